#include "core/descriptor.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"

namespace heed::inline HEED_REAL {

void write_all(int file, std::string_view contents, const std::string& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) cannot("write", path, errno);
    if (written > 0) contents.remove_prefix(static_cast<size_t>(written));
  }
}

void cannot(const char* verb, const std::string& path, int code) {
  const char* hint = "";
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    hint = "; make room on the disk and try again";
  else if (code == EACCES || code == EROFS || code == EPERM)
    hint = "; allow writing there, or choose another folder";
  throw Error(fmt::format("{}: cannot {}: {}{}", path, verb, std::strerror(code), hint));
}

}  // namespace heed::inline HEED_REAL
