#include "apps/inference/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/check.h"
#include "data/files.h"

namespace heed {

LineReader::LineReader(const std::string& path, Level level)
    : name_(path == "-" ? "standard input" : path),
      level_(level),
      file_(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                        : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  check_input(static_cast<bool>(file_), "{}: cannot read: {}", path, std::strerror(errno));
}

bool LineReader::fill() {
  if (ended_) return false;
  buffer_.erase(0, start_);
  start_ = 0;
  char chunk[1 << 16];
  ssize_t count = 0;
  do count = ::read(file_, chunk, sizeof chunk);
  while (count < 0 && errno == EINTR);
  check_input(count >= 0, "{}: cannot read: {}", name_, std::strerror(errno));
  buffer_.append(chunk, static_cast<size_t>(count));
  ended_ = count == 0;
  return !ended_;
}

void LineReader::begin() {
  begun_ = true;
  while (buffer_.size() < 4 && buffer_.find('\n') == buffer_.npos && fill()) {
  }
  const std::string foreign = level_ == Level::byte ? "" : foreign_format(buffer_);
  check_input(foreign.empty(), "{}: {}", name_, foreign);
  if (buffer_.starts_with(byte_order_mark)) start_ = byte_order_mark.size();
}

bool LineReader::next(std::string& line) {
  if (!begun_) begin();
  line.clear();
  bool found = false;
  for (bool complete = false; !complete;) {
    if (start_ == buffer_.size() && !fill()) break;
    found = true;
    const size_t end = std::min(buffer_.find('\n', start_), buffer_.size());
    line.append(buffer_, start_, std::min(end - start_, max_line + 1 - line.size()));
    complete = end < buffer_.size();
    start_ = end + (complete ? 1 : 0);
  }
  if (line.ends_with('\r')) line.pop_back();
  return found;
}

bool LineReader::is_ready() {
  while (!ended_ && buffer_.find('\n', start_) == buffer_.npos) {
    if (buffer_.size() - start_ > max_line) break;
    pollfd waiting{file_, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0) return false;
    fill();
  }
  return true;
}

}  // namespace heed
