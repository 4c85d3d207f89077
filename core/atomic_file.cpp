#include "core/atomic_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace heed::inline HEED_REAL {
namespace fs = std::filesystem;

void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno == EACCES) return;  // writable, but not readable
  if (!folder || ::fsync(folder) != 0) cannot("write", path, errno);
}

void rename_in_folder(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) cannot("write", to, errno);
  const std::string folder = fs::path(to).parent_path().string();
  sync_folder(folder.empty() ? "." : folder);
}

Aside::Aside(const std::string& path, const std::string& suffix)
    : path_(path),
      aside_(fs::path(path)
                 .replace_filename(prefix + fs::path(path).filename().string() + suffix)
                 .string()) {}

Aside::~Aside() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(aside_, ignored);
}

void Aside::commit() {
  rename_in_folder(aside_, path_);
  committed_ = true;
}

static int open_new(const std::string& path) {
  ::unlink(path.c_str());
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

AtomicFile::AtomicFile(const std::string& path, const std::string& suffix)
    : Aside(path, suffix), file_(open_new(aside_)) {
  if (!file_) cannot("write", path, errno);
}

void AtomicFile::write(std::string_view contents) { write_all(file_, contents, path_); }

void AtomicFile::commit() {
  if (::fsync(file_) != 0 || !file_.close()) cannot("write", path_, errno);
  Aside::commit();  // renames it
}

}  // namespace heed::inline HEED_REAL
