// A library to preload: one call that changes the folder FAULT_FOLDER fails, as if the disk
// refused.
//
//   FAULT_FOLDER  the folder; it may not exist yet
//   FAULT_CALL    which call fails, counted from 1 (0: none)
//   FAULT_ERRNO   its errno
//   FAULT_COUNT   file to append the name of each call to
//
// Counted are the calls of write, fsync, open (to write), mkdir, rename, symlink, unlink, rmdir and
// ftruncate with a path or a file in the folder.
#include <climits>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool inside(const char* path) {
  const char* folder = std::getenv("FAULT_FOLDER");
  if (!folder) return false;
  char whole[2 * PATH_MAX];
  char here[PATH_MAX] = "";
  if (path[0] != '/' && !getcwd(here, sizeof here)) return false;
  std::snprintf(whole, sizeof whole, "%s%s%s", here, *here ? "/" : "", path);
  const size_t length = std::strlen(folder);
  return std::strncmp(whole, folder, length) == 0 &&
         (whole[length] == '/' || whole[length] == '\0');
}

bool inside(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return inside(path);
}

// Whether this call is the one that fails. Sets errno.
bool fails(const char* call) {
  static int calls = 0;
  ++calls;
  if (const char* list = std::getenv("FAULT_COUNT")) {
    static auto* const original = next(open, "open");
    const int file = original(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    dprintf(file, "%s\n", call);
    close(file);
  }
  const char* chosen = std::getenv("FAULT_CALL");
  if (!chosen || calls != std::atoi(chosen)) return false;
  errno = std::atoi(std::getenv("FAULT_ERRNO"));
  return true;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t bytes) {
  static auto* const original = next(write, "write");
  return inside(file) && fails("write") ? -1 : original(file, data, bytes);
}

int fsync(int file) {
  static auto* const original = next(fsync, "fsync");
  return inside(file) && fails("fsync") ? -1 : original(file);
}

int ftruncate(int file, off_t length) noexcept {
  static auto* const original = next(ftruncate, "ftruncate");
  return inside(file) && fails("ftruncate") ? -1 : original(file, length);
}

int open(const char* path, int flags, ...) {
  static auto* const original = next(open, "open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  return writes && inside(path) && fails("open") ? -1 : original(path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const original = next(mkdir, "mkdir");
  return inside(path) && fails("mkdir") ? -1 : original(path, mode);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const original = next(rename, "rename");
  return inside(to) && fails("rename") ? -1 : original(from, to);
}

int symlink(const char* target, const char* link) noexcept {
  static auto* const original = next(symlink, "symlink");
  return inside(link) && fails("symlink") ? -1 : original(target, link);
}

int unlink(const char* path) noexcept {
  static auto* const original = next(unlink, "unlink");
  return inside(path) && fails("unlink") ? -1 : original(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const original = next(unlinkat, "unlinkat");
  const bool counts = folder == AT_FDCWD || path[0] == '/' ? inside(path) : inside(folder);
  return counts && fails("unlink") ? -1 : original(folder, path, flags);
}

int remove(const char* path) noexcept {
  static auto* const original = next(remove, "remove");
  return inside(path) && fails("unlink") ? -1 : original(path);
}

int rmdir(const char* path) noexcept {
  static auto* const original = next(rmdir, "rmdir");
  return inside(path) && fails("rmdir") ? -1 : original(path);
}
}
