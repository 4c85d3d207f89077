#include "apps/inference/input_lines.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "apps/support/lines.h"
#include "apps/support/log.h"
#include "core/check.h"

namespace heed {

int64_t answer_lines(const std::string& path, int64_t positions,
                     const std::function<Sequence(const std::string&)>& encode,
                     const std::function<void(std::span<const InputLine>)>& answer) {
  constexpr size_t max_lines = 256;
  LineReader reader(path);
  std::vector<InputLine> lines;
  int64_t number = 0, failed = 0;
  for (std::string text; reader.next(text);) {
    InputLine line{++number, text, {}, ""};
    try {
      check_input(text.size() <= LineReader::max_line, "expected at most {} bytes, found more",
                  LineReader::max_line);
      line.ids = encode(text);
      check_input(positions == 0 || std::ssize(line.ids) <= positions,
                  "expected at most {} tokens, the positions of the model, found {}", positions,
                  line.ids.size());
      check_input(std::ssize(line.ids) <= max_line_tokens, "expected at most {} tokens, found {}",
                  max_line_tokens, line.ids.size());
    } catch (const InputError& error) {
      line.ids.clear();
      line.error = error.what();
      logging::error("{}:{}: {}", reader.name(), number, line.error);
      ++failed;
    }
    lines.push_back(std::move(line));
    if (lines.size() < max_lines && reader.is_ready()) continue;
    answer(lines);
    lines.clear();
  }
  if (!lines.empty()) answer(lines);
  return failed;
}

}  // namespace heed
