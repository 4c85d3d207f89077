#include "data/text_encoder.h"

#include <utility>

#include "core/check.h"

namespace heed {

TextEncoder::TextEncoder(const DataOptions& options)
    : level_(options.level),
      min_count_(options.min_count),
      max_vocabulary_(options.max_vocabulary),
      met_unknown_(options.level == Level::word) {}

void TextEncoder::count(std::string_view training_text) {
  if (level_ == Level::byte) return;
  for_each_token(level_, training_text, [this](std::string_view token) { counts_.add(token); });
}

void TextEncoder::choose(const std::vector<std::string>& special_symbols) {
  std::vector<std::string> symbols =
      level_ == Level::byte ? byte_symbols() : counts_.chosen(min_count_, max_vocabulary_);
  check_input(!symbols.empty(), "the vocabulary is empty: no {} comes data.min_count = {} times",
              level_names[static_cast<int>(level_)], min_count_);
  symbols.insert(symbols.end(), special_symbols.begin(), special_symbols.end());
  known_ = std::make_unique<TextCodec>(level_, std::move(symbols));
}

void TextEncoder::append(std::string_view text, std::vector<int32_t>& ids) {
  const size_t first = ids.size();
  known_->append(text, ids);
  for (size_t i = first; i < ids.size(); ++i) {
    if (ids[i] != Vocabulary::none) continue;
    ids[i] = known_->vocabulary().size();
    met_unknown_ = true;
  }
}

std::shared_ptr<const TextCodec> TextEncoder::codec() const {
  std::vector<std::string> symbols = known_->vocabulary().symbols();
  if (met_unknown_) symbols.push_back(unknown_symbol);
  return std::make_shared<TextCodec>(level_, std::move(symbols));
}

}  // namespace heed
