// Reads metrics.jsonl, also of a run that is training: a last row without an end is being written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// Returns the text of the file; "" if there is none. Throws InputError if it cannot be read.
std::string read_metrics(const std::string& path);

// Returns the complete rows among the last 16 KiB of the file; "" if it cannot be read.
std::string last_metrics(const std::string& path);

// Calls f(row, line) for each complete row, as text, with the number of its line from 1.
template <class F>
void for_each_row(std::string_view metrics, F&& f) {
  int64_t line = 1;
  for (size_t end; (end = metrics.find('\n')) != metrics.npos; metrics.remove_prefix(end + 1))
    f(metrics.substr(0, end), line++);
}

// Calls f(row) for each complete row, the newest first, until f returns false.
template <class F>
void for_each_row_from_end(std::string_view metrics, F&& f) {
  for (size_t end; (end = metrics.rfind('\n')) != metrics.npos;) {
    metrics = metrics.substr(0, end);
    const size_t begin = metrics.rfind('\n') + 1;  // 0 if there is none
    if (!f(metrics.substr(begin))) return;
    metrics = metrics.substr(0, begin);
  }
}

}  // namespace heed
