#include "apps/inference/input_lines.h"

#include <iterator>
#include <optional>
#include <vector>

#include "apps/support/lines.h"
#include "apps/support/log.h"
#include "core/check.h"
#include "core/ranks.h"

namespace heed {

// Returns the lines that have arrived, at most 256, but at least one; none at the end. Rank 0 reads
// them.
static std::vector<std::string> next_lines(std::optional<LineReader>& reader) {
  constexpr size_t max_lines = 256;
  std::vector<std::string> lines;
  for (std::string line; reader && lines.size() < max_lines && reader->next(line);) {
    lines.push_back(line);
    if (!reader->is_ready()) break;
  }
  return concatenated(lines);
}

int64_t answer_lines(const std::string& path, int64_t positions,
                     const std::function<Sequence(const std::string&)>& encode,
                     const std::function<void(std::span<const InputLine>)>& answer) {
  std::optional<LineReader> reader;
  if (rank() == 0) reader.emplace(path);
  int64_t number = 0, failed = 0;
  for (;;) {
    std::vector<InputLine> lines;
    for (std::string& text : next_lines(reader)) {
      InputLine line{++number, std::move(text), {}, ""};
      try {
        check_input(line.text.size() <= LineReader::max_line,
                    "expected at most {} bytes, found more", LineReader::max_line);
        line.ids = encode(line.text);
        check_input(positions == 0 || std::ssize(line.ids) <= positions,
                    "expected at most {} tokens, the positions of the model, found {}", positions,
                    line.ids.size());
        check_input(std::ssize(line.ids) <= max_line_tokens, "expected at most {} tokens, found {}",
                    max_line_tokens, line.ids.size());
      } catch (const InputError& error) {
        line.ids.clear();
        line.error = error.what();
        if (reader) logging::error("{}:{}: {}", reader->name(), number, line.error);
        ++failed;
      }
      lines.push_back(std::move(line));
    }
    if (lines.empty()) return failed;
    answer(lines);
  }
}

}  // namespace heed
