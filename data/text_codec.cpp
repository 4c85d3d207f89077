#include "data/text_codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/text.h"

namespace heed {

TextCodec::TextCodec(Level level, std::vector<std::string> tokens,
                     std::shared_ptr<const Subwords> subwords)
    : level_(level), vocabulary_(std::move(tokens)), subwords_(std::move(subwords)) {
  const auto starts_with = [this](const std::vector<std::string>& first) {
    const std::vector<std::string>& all = vocabulary_.tokens();
    return all.size() >= first.size() && std::equal(first.begin(), first.end(), all.begin());
  };
  check_input(level != Level::byte || starts_with(byte_tokens()),
              "vocabulary: at byte level the first 256 tokens must be \"00\" to \"ff\"");
  check_input(level != Level::subword || (subwords_ && starts_with(subwords_->pieces())),
              "vocabulary: at subword level the first tokens must be the pieces of the tokenizer");
}

int32_t TextCodec::id_of(std::string_view token) const {
  if (level_ == Level::byte) return static_cast<unsigned char>(token[0]);
  return is_special(token) ? Vocabulary::none : vocabulary_.find(token);
}

void TextCodec::append(std::string_view text, std::vector<int32_t>& ids) const {
  if (subwords_) return subwords_->append(text, ids);
  for_each_token(level_, text, [&](std::string_view token) { ids.push_back(id_of(token)); });
}

std::vector<int32_t> TextCodec::encode(std::string_view text, int64_t* skipped) const {
  const size_t invalid = level_ == Level::byte ? text.npos : find_invalid_utf8(text);
  check_input(invalid == text.npos, "the text {} is not valid UTF-8 at byte {}", in_quotes(text),
              invalid);
  std::vector<int32_t> ids;
  if (subwords_) {
    subwords_->append(text, ids);
    return ids;
  }
  for_each_token(level_, text, [&](std::string_view token) {
    const int32_t id = id_of(token);
    if (id == Vocabulary::none && skipped) {
      ++*skipped;
      return;
    }
    check_input(id != Vocabulary::none || vocabulary_.unknown() != Vocabulary::none,
                "the {} {} (number {} of the text) is not in the vocabulary of {} tokens",
                name_of(levels, level_), in_quotes(token), ids.size() + 1, vocabulary_.size());
    ids.push_back(id != Vocabulary::none ? id : vocabulary_.unknown());
  });
  return ids;
}

std::vector<int32_t> TextCodec::prompt(std::string_view text, int64_t* skipped) const {
  std::vector<int32_t> ids = encode(text, skipped);
  if (vocabulary_.begin() != Vocabulary::none) ids.insert(ids.begin(), vocabulary_.begin());
  if (vocabulary_.separator() != Vocabulary::none) ids.push_back(vocabulary_.separator());
  return ids;
}

std::string TextCodec::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    const std::string& token = vocabulary_.token(id);
    if (id == vocabulary_.begin() || id == vocabulary_.end()) continue;
    if (level_ == Level::word && !text.empty()) text += ' ';
    if (level_ == Level::byte && id < 256)
      text += static_cast<char>(id);
    else if (subwords_ && id < std::ssize(subwords_->pieces()))
      text += subwords_->text(id);
    else
      text += token;
  }
  return text;
}

std::vector<std::string> byte_tokens() {
  std::vector<std::string> tokens;
  tokens.reserve(256);
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(fmt::format("{:02x}", byte));
  return tokens;
}

}  // namespace heed
