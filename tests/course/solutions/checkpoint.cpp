#include <string>
#include <string_view>

#include "course/grader/disk.h"

namespace heed::course {
namespace {

struct OpenFile {
  Disk& disk;
  int file;
  OpenFile(Disk& disk_, const std::string& path) : disk(disk_), file(disk_.create(path)) {}
  ~OpenFile() { disk.close(file); }
};

}  // namespace

// Saves the checkpoint as the file folder + "/" + name. Whatever happens at whatever moment, this
// file is the complete old one or the complete new one; after the return, the new one.
void save_checkpoint(Disk& disk, const std::string& folder, const std::string& name,
                     std::string_view checkpoint) {
  const std::string path = folder + "/" + name, aside = folder + "/." + name + ".tmp";
  {
    const OpenFile open(disk, aside);
    while (!checkpoint.empty()) checkpoint.remove_prefix(disk.write(open.file, checkpoint));
    disk.sync(open.file);
  }
  disk.rename(aside, path);
  disk.sync_folder(folder);
}

}  // namespace heed::course
