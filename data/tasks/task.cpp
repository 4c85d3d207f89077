#include "data/tasks/task.h"

#include "core/check.h"

namespace heed {

std::shared_ptr<const TextCodec> task_codec(Level level, std::vector<std::string> tokens,
                                            Framing framing, bool one_length) {
  const bool has_separator = framing == Framing::language_model && !one_length;
  if (framing == Framing::seq2seq) tokens.push_back(begin_token);
  if (has_separator) tokens.push_back(separator_token);
  if (has_separator || framing == Framing::seq2seq) tokens.push_back(end_token);
  return std::make_shared<TextCodec>(level, std::move(tokens));
}

std::vector<std::string> numbered(int64_t count, const char* prefix) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t number = 0; number < count; ++number)
    names.push_back(prefix + std::to_string(number));
  return names;
}

void check_shortest(const DataOptions& options, int64_t least, const char* reason) {
  check_keys(options.lengths[0] >= least, {"data.lengths"},
             "data.lengths must start at {} or more, not {}: {}", least, options.lengths[0],
             reason);
}

}  // namespace heed
