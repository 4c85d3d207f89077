// A checkpoint that survives a kill: write the function below. The task is in
// course/exercises/checkpoint/task.md; check it with
//
//   ./heed course check checkpoint
#include <string>
#include <string_view>

#include "course/grader/disk.h"

namespace heed::course {

// Saves the checkpoint as the file folder + "/" + name. Whatever happens at whatever moment, this
// file is the complete old one or the complete new one; after the return, the new one.
void save_checkpoint(Disk& disk, const std::string& folder, const std::string& name,
                     std::string_view checkpoint) {
  // Write this.
  (void)disk, (void)folder, (void)name, (void)checkpoint;
}

}  // namespace heed::course
