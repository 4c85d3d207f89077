#include "data/text_encoder.h"

#include <utility>

#include "core/check.h"

namespace heed {

TextEncoder::TextEncoder(const DataOptions& options)
    : level_(options.level),
      min_count_(options.min_count),
      max_vocabulary_(options.max_vocabulary),
      has_unknown_(options.level == Level::word) {}

void TextEncoder::count(std::string_view training_text) {
  if (level_ == Level::byte) return;
  for_each_token(level_, training_text, [this](std::string_view token) { counts_.add(token); });
}

void TextEncoder::choose(const std::vector<std::string>& special_tokens) {
  std::vector<std::string> tokens =
      level_ == Level::byte ? byte_tokens() : counts_.chosen(min_count_, max_vocabulary_);
  check_input(!tokens.empty(), "the vocabulary is empty: no {} occurs data.min_count = {} times",
              name_of(levels, level_), min_count_);
  tokens.insert(tokens.end(), special_tokens.begin(), special_tokens.end());
  known_ = std::make_unique<TextCodec>(level_, std::move(tokens));
}

void TextEncoder::append(std::string_view text, std::vector<int32_t>& ids) {
  const size_t first = ids.size();
  known_->append(text, ids);
  for (size_t i = first; i < ids.size(); ++i) {
    if (ids[i] != Vocabulary::none) continue;
    ids[i] = known_->vocabulary().size();
    has_unknown_ = true;
  }
}

std::shared_ptr<const TextCodec> TextEncoder::codec() const {
  std::vector<std::string> tokens = known_->vocabulary().tokens();
  if (has_unknown_) tokens.push_back(unknown_token);
  return std::make_shared<TextCodec>(level_, std::move(tokens));
}

}  // namespace heed
