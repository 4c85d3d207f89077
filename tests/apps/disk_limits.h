// A disk that refuses: files that may not grow, a tiny disk, a process that may write nowhere.
#pragma once

#include <doctest/doctest.h>

#include <signal.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// While it lives no file of this process grows beyond `bytes`: write fails with EFBIG.
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

// A disk of so many bytes mounted at a folder, where this process may mount.
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

// Runs f in a child that is not root, to whom permissions mean something; says what f returned (0
// to 100), or -1 if this process is not root and cannot become someone else.
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
