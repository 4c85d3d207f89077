#include "apps/support/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.h"
#include "core/joined.h"

namespace heed {
namespace fs = std::filesystem;

namespace {

int open_to_append(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    check(S_ISREG(status.st_mode), "{}: expected a plain file", path);
    // A hard link, such as a copy by `cp -al`: the other name keeps the old contents.
    if (status.st_nlink > 1) write_file(path, read_file(path, "file"));
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) cannot("write", path, errno);
  return file;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool make_new_subfolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    cannot("create the folder", path, errno);
  }
  sync_folder(folder_of(path));
  return true;
}

void make_parents(const std::string& path) {
  const std::string parent = folder_of(path);
  if (!exists(parent)) make_folders(parent);
}

}  // namespace

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string link_target(const std::string& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

int64_t modified_at(const struct stat& file) {
#ifdef __APPLE__
  const timespec& time = file.st_mtimespec;
#else
  const timespec& time = file.st_mtim;
#endif
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileKind kind_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return FileKind::none;
  return S_ISREG(status.st_mode)   ? FileKind::plain
         : S_ISDIR(status.st_mode) ? FileKind::folder
         : S_ISLNK(status.st_mode) ? FileKind::link
                                   : FileKind::other;
}

void check_own(const std::string& path, FileKind expected) {
  const FileKind kind = kind_of(path);
  check_input(
      kind == FileKind::none || kind == expected,
      "{}: expected a {}, found a {}; nothing outside the folder of a run or a sweep is read "
      "or written: replace it with a copy, or remove it",
      path, expected == FileKind::folder ? "folder" : "plain file",
      kind == FileKind::link     ? "link"
      : kind == FileKind::folder ? "folder"
      : kind == FileKind::plain  ? "file"
                                 : "device or FIFO");
}

std::string own_file(const std::string& folder, const std::string& name) {
  std::string path = in_folder(folder, name);
  check_own(path, FileKind::plain);
  return path;
}

void read_parts(const std::string& path, const char* what, int64_t max_bytes,
                const std::function<void(std::string_view part)>& use) {
  // Not blocking: a FIFO would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  check_input(static_cast<bool>(file), "{}: cannot read: {}", path, std::strerror(errno));
  struct stat status {};
  const bool plain = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  check_input(plain, "{}: expected a {}, found {}", path, what,
              S_ISDIR(status.st_mode) ? "a folder" : "a FIFO or a device");
  const auto check_size = [&](int64_t bytes) {
    check_input(bytes <= max_bytes, "{}: expected a {}, found more than {} bytes", path, what,
                max_bytes);
  };
  check_size(status.st_size);
  std::string part(1 << 16, '\0');
  for (int64_t read = 0;;) {
    const ssize_t got = ::read(file, part.data(), part.size());
    check_input(got >= 0 || errno == EINTR, "{}: cannot read: {}", path, std::strerror(errno));
    if (got == 0) return;
    if (got < 0) continue;
    check_size(read += got);  // it may grow
    use(std::string_view(part).substr(0, static_cast<size_t>(got)));
  }
}

std::string read_file(const std::string& path, const char* what, int64_t max_bytes) {
  std::string contents;
  read_parts(path, what, max_bytes, [&](std::string_view part) { contents += part; });
  return contents;
}

void write_file(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

std::string output_path(const std::string& path) {
  struct stat status {
  }, stream{};
  check_input(!path.empty() && path.back() != '/' && !is_folder(path),
              "{}: expected the name of a file", path);
  if (::stat(path.c_str(), &status) == 0) {
    check_input(S_ISREG(status.st_mode), "{}: expected a plain file", path);
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO})
      check_input(::fstat(standard, &stream) != 0 || !is_same_file(status, stream),
                  "{}: expected another file than that of a standard stream", path);
  }
  std::string file = path;
  constexpr int max_links = 40;  // as in Linux
  for (int links = 0;; ++links) {
    const std::string target = link_target(file);
    if (target.empty()) break;
    check_input(links < max_links, "{}: cannot write: {}", path, std::strerror(ELOOP));
    file = sibling(file, target);
  }
  try {
    const AtomicFile tried(file);
  } catch (const Error& error) {
    throw InputError(error.what());
  }
  return file;
}

std::string output_path(const std::string& path, const std::vector<std::string>& extensions) {
  const std::string extension = fs::path(path).extension().string();
  check_input(extension.empty() || std::ranges::find(extensions, extension) != extensions.end(),
              "{}: expected a name that ends in {}, the format that is written", path,
              joined(extensions, " or "));
  return output_path(path);
}

void point_link(const std::string& link, const std::string& target) {
  Aside place(link);
  ::unlink(place.aside().c_str());
  if (::symlink(target.c_str(), place.aside().c_str()) != 0) cannot("write", link, errno);
  place.commit();
}

void make_subfolder(const std::string& path) {
  if (!make_new_subfolder(path) && !is_folder(path)) cannot("create the folder", path, EEXIST);
}

void make_folders(const std::string& path) {
  make_parents(path);
  make_subfolder(path);
}

bool make_new_folder(const std::string& path) {
  make_parents(path);
  return make_new_subfolder(path);
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

void remove_leftovers(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    ::unlink(in_folder(folder_of(path), Aside::prefix + name_of(path)).c_str());
}

void remove_leftovers_in(const std::string& folder) {
  for (const std::string& name : names_in_folder(folder))
    if (name.starts_with(Aside::prefix)) remove_all(in_folder(folder, name));
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

std::string stem_of(const std::string& path) {
  const std::string name = name_of(path);
  return name.ends_with(".toml") ? name.substr(0, name.size() - 5) : name;
}

std::string sibling(const std::string& path, const std::string& other) {
  return fs::path(path).replace_filename(other).string();
}

std::string absolute_path(const std::string& path, const std::string& from) {
  const fs::path joined = fs::path(from) / path;
  std::error_code nowhere;  // in a browser there is no working directory
  const fs::path absolute = fs::absolute(joined, nowhere);
  return (nowhere ? joined : absolute).lexically_normal().string();
}

AppendedFile::AppendedFile(const std::string& path) : path_(path), file_(open_to_append(path)) {
  sync_folder(folder_of(path));  // it may be new
}

void AppendedFile::write(std::string_view text) { write_all(*file_, text, path_); }

void AppendedFile::sync() {
  if (::fsync(*file_) != 0) cannot("write", path_, errno);
}

bool AppendedFile::restore() {
  struct stat held {
  }, found{};
  if (::fstat(*file_, &held) != 0 ||
      (::lstat(path_.c_str(), &found) == 0 && is_same_file(held, found)))
    return false;
  AtomicFile again(path_);
  std::string part(1 << 16, '\0');
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(*file_, part.data(), part.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot("read", path_, errno);
    if (got == 0) break;
    again.write(std::string_view(part).substr(0, static_cast<size_t>(got)));
    at += got;
  }
  again.commit();
  file_.emplace(open_to_append(path_));
  return true;
}

AtomicFolder::AtomicFolder(const std::string& path) : Aside(path) {
  remove_all(aside_);
  if (::mkdir(aside_.c_str(), 0777) != 0) cannot("create the folder", aside_, errno);
}

void AtomicFolder::commit() {
  sync_folder(aside_);
  Aside::commit();
}

}  // namespace heed
