#include "apps/support/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace heed {

#if defined(__linux__) && !defined(HEED_PLAIN_SYSTEM)

namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool try_lock(int file) {
  struct flock lock = whole_file();
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool wait_for_lock(int file) {
  struct flock lock = whole_file();
  while (::fcntl(file, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool is_locked_elsewhere(int file) {
  struct flock lock = whole_file();
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

#else

bool try_lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

bool wait_for_lock(int file) {
  while (::flock(file, LOCK_EX) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool is_locked_elsewhere(int file) {
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(file, LOCK_UN);
  return false;
}

#endif

int lock_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (folder >= 0 && ::flock(folder, LOCK_EX) != 0 && errno == EINTR) continue;
  return folder;
}

}  // namespace heed
