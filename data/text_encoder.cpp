#include "data/text_encoder.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "data/files.h"

namespace heed {

static std::shared_ptr<const Subwords> read_subwords(const std::string& path) {
  try {
    return std::make_shared<Subwords>(read_bytes(path, int64_t{1} << 26));
  } catch (const InputError& error) {
    const std::string text = error.what();
    throw InputError("data.tokenizer: " + (text.starts_with(path) ? text : path + ": " + text));
  }
}

TextEncoder::TextEncoder(const DataOptions& options)
    : level_(options.level),
      min_count_(options.min_count),
      max_vocabulary_(options.max_vocabulary),
      tokenizer_(options.tokenizer),
      has_unknown_(options.level == Level::word) {}

void TextEncoder::count(std::string_view training_text) {
  if (level_ == Level::byte) return;
  if (level_ == Level::subword) return training_texts_.push_back(training_text);
  for_each_token(level_, training_text, [this](std::string_view token) { counts_.add(token); });
}

std::vector<std::string> TextEncoder::ordinary_tokens() {
  if (level_ == Level::byte) return byte_tokens();
  if (level_ != Level::subword) return counts_.chosen(min_count_, max_vocabulary_);
  check_input(max_vocabulary_ > 0 || !tokenizer_.empty(),
              "data.level = \"subword\" needs data.max_vocabulary, the number of pieces to train, "
              "such as 1000, or data.tokenizer, a model that exists");
  subwords_ = tokenizer_.empty()
                  ? std::make_shared<Subwords>(Subwords::train(training_texts_, max_vocabulary_))
                  : read_subwords(tokenizer_);
  return subwords_->pieces();
}

void TextEncoder::choose(const std::vector<std::string>& special_tokens) {
  std::vector<std::string> tokens = ordinary_tokens();
  check_input(!tokens.empty(), "the vocabulary is empty: no {} occurs data.min_count = {} times",
              name_of(levels, level_), min_count_);
  for (const std::string& special : special_tokens)  // a tokenizer may have it
    if (std::find(tokens.begin(), tokens.end(), special) == tokens.end()) tokens.push_back(special);
  known_ = std::make_unique<TextCodec>(level_, std::move(tokens), subwords_);
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
  return std::make_shared<TextCodec>(level_, std::move(tokens), subwords_);
}

}  // namespace heed
