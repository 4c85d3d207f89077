// Causes write errors: a limit on file sizes, a small disk, no write permission.
#pragma once

#include <doctest/doctest.h>

#include <signal.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Limits the size of files that this process writes. Beyond `bytes`, writes fail with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

// Mounts a tmpfs of `bytes` bytes at a folder. `mounted` is false if this process may not mount.
class TinyDisk {
 public:
  TinyDisk(std::string folder, int64_t bytes) : folder_(std::move(folder)) {
    mounted = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0,
                      ("size=" + std::to_string(bytes)).c_str()) == 0;
  }
  ~TinyDisk() {
    if (mounted) ::umount(folder_.c_str());
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  bool mounted = false;

 private:
  std::string folder_;
};

// Runs f in a child process without root privileges, to which file permissions apply. Returns the
// result of f (0 to 100), or -1 if the user of the process cannot be changed.
template <class F>
int as_nobody(F&& f) {
  constexpr uid_t nobody = 65534;
  if (::geteuid() != 0) return f();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setgid(nobody) == 0 && ::setuid(nobody) == 0 ? f() : 101);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) <= 100 ? WEXITSTATUS(status) : -1;
}
