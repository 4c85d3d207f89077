// Packs a run or a sweep into an archive from which others can reproduce it.
//
//   study.tgz → study/README.txt     what it is, and the commands that reproduce it
//               study/sweep.toml …   the files of the sweep
//               study/POINT/seed-1/  a run: config, metrics, scores, log, perhaps a checkpoint
//               study/data/          the data files, if their licence lets you pass them on
//
// An unpacked folder is a run, or a sweep, like any other.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

struct PackOptions {
  std::string path;          // of a run, or of a sweep
  std::string output;        // NAME.tgz or NAME.tar.gz; the archive contains the folder NAME
  std::string data_licence;  // of the data files; "": they are left out
  bool checkpoints = true;   // the best of each run, or else its newest
};

struct Packed {
  int64_t runs = 0, failed = 0;
  bool lacks_data = false;  // the runs read files that are not in the archive
  bool interrupted = false;
};

// Writes the archive with the program tar. Throws InputError if there is no run or sweep, if a
// process trains in it, if the output exists, and if the data files have changed or are larger than
// max_kept_bytes. Throws Error if the archive cannot be written. Leaves nothing half-written.
Packed pack(const PackOptions& options);

}  // namespace heed
