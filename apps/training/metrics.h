// metrics.jsonl, one row a line. It can be read while a run trains: a last row without an end is
// being written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/support/files.h"
#include "apps/support/json.h"

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

// The file of a training, open for appending. Each row is an object with a member "step".
class MetricsFile {
 public:
  // Keeps the rows up to `last_step`. Removes later rows, and a last row that is incomplete. Throws
  // InputError, and changes nothing, if another row is damaged.
  MetricsFile(const std::string& path, int64_t last_step);

  // The first row creates the file. Both functions write the file again, and say so, if somebody
  // deleted or replaced it.
  void write(const Json& row);
  void sync();  // waits until all rows are on the disk

 private:
  void restore();

  std::string path_;
  std::optional<AppendedFile> file_;
};

}  // namespace heed
