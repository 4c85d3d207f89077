// Files and folders that appear whole or not at all: they are written under a hidden name,
// synchronized with the disk (fsync) and renamed, and so is the folder that they are in. Until then
// there is the complete old file. A link in the last component of a path is replaced, not followed.
// Throws Error that names the path, the cause and what to do. Clients do not need it.
#pragma once

#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace heed::inline HEED_REAL {

// Synchronizes the names in a folder with the disk.
void sync_folder(const std::string& path);
// Renames within a folder and synchronizes the folder with the disk.
void rename_in_folder(const std::string& from, const std::string& to);

// The hidden name next to `path` under which something is written, before it is renamed to `path`.
// The destructor removes what was not renamed.
class Aside {
 public:
  // Names with this prefix are left over from a process that was killed.
  static constexpr const char* prefix = ".tmp-";

  // The name is the prefix, the name of `path`, and `suffix`.
  explicit Aside(const std::string& path, const std::string& suffix = "");
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  const std::string& aside() const { return aside_; }
  void commit();  // renames it

 protected:
  std::string path_, aside_;

 private:
  bool committed_ = false;
};

// A file that is created or replaced by commit().
class AtomicFile : public Aside {
 public:
  // Creates aside(). What has that name is removed first, a link too. So of several processes that
  // may write one file at once each needs its own suffix: then the last one's file stays.
  explicit AtomicFile(const std::string& path, const std::string& suffix = "");

  void write(std::string_view contents);
  int descriptor() const { return file_; }  // for a program that writes it
  void commit();

 private:
  Descriptor file_;
};

}  // namespace heed::inline HEED_REAL
