#include "apps/support/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/check.h"

namespace heed {
namespace fs = std::filesystem;

namespace {

// An open file or folder.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return file_ >= 0; }
  operator int() const { return file_; }
  bool close() { return ::close(std::exchange(file_, -1)) == 0; }

 private:
  int file_;
};

[[noreturn]] void cannot(const char* verb, const std::string& path, int code) {
  const char* hint = "";
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    hint = "; make room on the disk and try again";
  else if (code == EACCES || code == EROFS || code == EPERM)
    hint = "; allow writing there, or choose another folder";
  throw Error(fmt::format("{}: cannot {}: {}{}", path, verb, std::strerror(code), hint));
}

// Synchronizes the names in a folder with the disk.
void sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder) != 0) cannot("write", path, errno);
}

void write_new_file(const std::string& path, std::string_view contents) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) cannot("write", path, errno);
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) cannot("write", path, errno);
    if (written > 0) contents.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(file) != 0 || !file.close()) cannot("write", path, errno);
}

}  // namespace

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string aside_of(const std::string& path) {
  return in_folder(folder_of(path), AtomicFolder::prefix + name_of(path));
}

std::string read_file(const std::string& path, const char* what, int64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  check_input(static_cast<bool>(file), "{}: cannot read: {}", path, std::strerror(errno));
  struct stat status {};
  check_input(::fstat(file, &status) == 0 && !S_ISDIR(status.st_mode),
              "{}: expected a {}, found a folder", path, what);
  std::string contents;
  for (;;) {
    constexpr size_t step = 1 << 16;
    const size_t size = contents.size();
    contents.resize(size + step);
    const ssize_t got = ::read(file, contents.data() + size, step);
    check_input(got >= 0 || errno == EINTR, "{}: cannot read: {}", path, std::strerror(errno));
    contents.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    check_input(static_cast<int64_t>(contents.size()) <= max_bytes,
                "{}: expected a {}, found more than {} bytes", path, what, max_bytes);
    if (got == 0) return contents;
  }
}

void write_file(const std::string& path, std::string_view contents) {
  const std::string aside = aside_of(path);
  try {
    write_new_file(aside, contents);
    rename_in_folder(aside, path);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
}

void check_writable(const std::string& path) {
  struct stat status {};
  check_input(!path.empty() && path.back() != '/' && !is_folder(path),
              "{}: expected the name of a file", path);
  check_input(::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode),
              "{}: expected a plain file", path);
  const std::string aside = aside_of(path);
  const Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  check_input(static_cast<bool>(file), "{}: cannot write: {}", path, std::strerror(errno));
  ::unlink(aside.c_str());
}

void point_link(const std::string& link, const std::string& target) {
  const std::string aside = aside_of(link);
  ::unlink(aside.c_str());
  if (::symlink(target.c_str(), aside.c_str()) != 0) cannot("write", link, errno);
  rename_in_folder(aside, link);
}

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) cannot("create the folder", path, error.value());
}

std::vector<std::string> names_in_folder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) cannot("remove", path, error.value());
}

void rename_in_folder(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) cannot("write", to, errno);
  sync_folder(folder_of(to));
}

std::string in_folder(std::string_view folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string name_of(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

std::string sibling(const std::string& path, const std::string& other) {
  return fs::path(path).replace_filename(other).string();
}

std::string absolute_path(const std::string& path, const std::string& from) {
  return fs::absolute(fs::path(from) / path).lexically_normal().string();
}

AtomicFolder::AtomicFolder(const std::string& path) : path_(path), aside_(aside_of(path)) {
  remove_all(aside_);
  if (::mkdir(aside_.c_str(), 0777) != 0) cannot("create the folder", aside_, errno);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(aside_, ignored);
}

void AtomicFolder::commit() {
  sync_folder(aside_);
  rename_in_folder(aside_, path_);
  committed_ = true;
}

}  // namespace heed
