// A disk for the exercise checkpoint: the calls of POSIX that it takes, on a disk whose plug the
// grader may pull.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed::course {

class Disk {
 public:
  virtual ~Disk() = default;

  // open(path, O_CREAT | O_TRUNC | O_WRONLY): an empty file of this name, in place of one that is
  // there. Returns its descriptor.
  virtual int create(const std::string& path) = 0;
  // write(2): appends bytes, and returns how many: at least one, perhaps fewer than given. Throws
  // Error if the disk is full.
  virtual size_t write(int file, std::string_view bytes) = 0;
  // fsync(2): returns when all bytes written to the file are on the disk. Its name need not be.
  virtual void sync(int file) = 0;
  virtual void close(int file) = 0;
  // rename(2): `to` is now the file that `from` was, in one step. Both must be in one folder.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // unlink(2)
  virtual void remove(const std::string& path) = 0;
  // fsync(2) of a folder: returns when its names are on the disk, as created, renamed and removed.
  virtual void sync_folder(const std::string& folder) = 0;
};

}  // namespace heed::course
