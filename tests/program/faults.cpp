// Library for LD_PRELOAD that injects a fault: one call that changes the folder FAULT_FOLDER fails.
//
//   FAULT_FOLDER  the folder; it may not exist yet
//   FAULT_CALL    which call fails, counted from 1 (0: none)
//   FAULT_ERRNO   its errno; without it the call takes FAULT_SECONDS longer, and does not fail
//   FAULT_LIST    file to append a line to for each call: its name and its path
//   FAULT_CLOCK   if it is there, each reading of the time of day is off by up to ten thousand
//   hours
//
// Counts the calls of write, fsync, open (to write), mkdir, rename, symlink, unlink, rmdir and
// ftruncate with a path or a file in the folder.
#include <climits>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace {

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The path of an open file.
std::string path_of(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return std::string(path, length < 0 ? 0 : static_cast<size_t>(length));
}

// Returns whether this call is the one that fails. Sets errno.
bool fails(const char* call, std::string path) {
  const char* const folder = std::getenv("FAULT_FOLDER");
  if (!folder) return false;
  char here[PATH_MAX];
  if (!path.starts_with('/') && getcwd(here, sizeof here)) path = std::string(here) + "/" + path;
  if (path != folder && !path.starts_with(std::string(folder) + "/")) return false;
  static int calls = 0;
  ++calls;
  if (const char* const list = std::getenv("FAULT_LIST")) {
    static auto* const original = next(open, "open");
    const int file = original(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    dprintf(file, "%s %s\n", call, path.c_str());
    close(file);
  }
  const char* const chosen = std::getenv("FAULT_CALL");
  if (!chosen || calls != std::atoi(chosen)) return false;
  const char* const error = std::getenv("FAULT_ERRNO");
  if (error)
    errno = std::atoi(error);
  else
    sleep(static_cast<unsigned>(std::atoi(std::getenv("FAULT_SECONDS"))));
  return error != nullptr;
}

// Returns by how many seconds the next reading of the time of day is off.
time_t jump() {
  static const bool jumps = std::getenv("FAULT_CLOCK");
  static unsigned readings = 0;
  return jumps ? static_cast<time_t>(++readings * 2654435761U % 20001) * 3600 - 36000000 : 0;
}

bool fails(const char* call, int file) { return fails(call, path_of(file)); }

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t bytes) {
  static auto* const original = next(write, "write");
  return fails("write", file) ? -1 : original(file, data, bytes);
}

int fsync(int file) {
  static auto* const original = next(fsync, "fsync");
  return fails("fsync", file) ? -1 : original(file);
}

int ftruncate(int file, off_t length) noexcept {
  static auto* const original = next(ftruncate, "ftruncate");
  return fails("ftruncate", file) ? -1 : original(file, length);
}

int open(const char* path, int flags, ...) {
  static auto* const original = next(open, "open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  return writes && fails("open", path) ? -1 : original(path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const original = next(mkdir, "mkdir");
  return fails("mkdir", path) ? -1 : original(path, mode);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const original = next(rename, "rename");
  return fails("rename", to) ? -1 : original(from, to);
}

int symlink(const char* target, const char* link) noexcept {
  static auto* const original = next(symlink, "symlink");
  return fails("symlink", link) ? -1 : original(target, link);
}

int unlink(const char* path) noexcept {
  static auto* const original = next(unlink, "unlink");
  return fails("unlink", path) ? -1 : original(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const original = next(unlinkat, "unlinkat");
  const bool relative = folder != AT_FDCWD && path[0] != '/';
  const std::string whole = (relative ? path_of(folder) + "/" : "") + path;
  return fails("unlink", whole) ? -1 : original(folder, path, flags);
}

int remove(const char* path) noexcept {
  static auto* const original = next(remove, "remove");
  return fails("unlink", path) ? -1 : original(path);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const original = next(clock_gettime, "clock_gettime");
  const int result = original(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += jump();
  return result;
}

time_t time(time_t* now) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  return now ? *now = exact.tv_sec : exact.tv_sec;
}

int rmdir(const char* path) noexcept {
  static auto* const original = next(rmdir, "rmdir");
  return fails("rmdir", path) ? -1 : original(path);
}
}
