#include "apps/training/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/support/log.h"
#include "core/check.h"

namespace heed {

constexpr int64_t tail_bytes = 1 << 14;

// Returns the step of a row, or -1 if the text is not a row.
static int64_t step_in(std::string_view row) {
  try {
    return Json::parse(row, "").at("step").integer();
  } catch (const InputError&) {
    return -1;
  }
}

// Returns the rows of steps up to `last_step`. Drops rows of later steps, which will be trained
// again. Only the last row, or rows after a later step, may be damaged.
static std::string rows_up_to(std::string text, int64_t last_step, const std::string& path) {
  std::string kept;
  if (last_step == 0 || text.empty()) return kept;
  if (text.back() != '\n') text += '\n';
  bool later = false;  // after a row of a later step
  for_each_row(text, [&](std::string_view row, int64_t line) {
    const int64_t step = step_in(row);
    const bool damaged = step < 0, is_last = row.data() + row.size() == &text.back();
    later = later || step > last_step;
    check_input(
        damaged ? later || is_last : !later || step > last_step,
        "{}:{}: expected a row of metrics, in the order of steps, found {}; repair or delete "
        "this line, or move the file elsewhere, and resume again",
        path, line, damaged ? "a damaged one" : fmt::format("step {}", step));
    if (!damaged && !later) (kept += row) += '\n';
  });
  return kept;
}

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

MetricsFile::MetricsFile(const std::string& path, int64_t last_step) : path_(path) {
  const std::string rows = read_metrics(path);
  const std::string kept = rows_up_to(rows, last_step, path);
  if (kept != rows) write_file(path, kept);
}

void MetricsFile::write(const Json& row) {
  if (!file_) file_.emplace(path_);
  restore();
  file_->write(row.text() + "\n");
}

void MetricsFile::sync() {
  restore();
  if (file_) file_->sync();
}

void MetricsFile::restore() {
  if (file_ && file_->restore())
    logging::warning("{}: deleted or replaced during the training; written again with all rows",
                     path_);
}

}  // namespace heed
