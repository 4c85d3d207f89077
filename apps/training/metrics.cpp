#include "apps/training/metrics.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/support/files.h"

namespace heed {

constexpr int64_t tail_bytes = 1 << 14;

std::string read_metrics(const std::string& path) {
  return exists(path) ? read_file(path, "metrics file") : "";
}

std::string last_metrics(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return "";
  const int64_t start = std::max<int64_t>(0, found.st_size - tail_bytes);
  std::string text(static_cast<size_t>(std::min<int64_t>(found.st_size, tail_bytes)), '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), start);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  text.erase(text.rfind('\n') + 1);
  if (start > 0) text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace heed
