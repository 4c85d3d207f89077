#include "data/text_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "data/files.h"

namespace heed {

static std::shared_ptr<const Subwords> read_subwords(const std::string& path) {
  const std::string model =
      in_context("`tokenizer`", [&] { return read_bytes(path, int64_t{1} << 26); });
  return in_context("`tokenizer`: " + path, [&] { return std::make_shared<Subwords>(model); });
}

TextEncoder::TextEncoder(const DataOptions& options, const ExistingVocabulary& existing,
                         std::shared_ptr<const TextCodec> codec)
    : options_(options),
      existing_(existing),
      existing_codec_(std::move(codec)),
      has_unknown_(options.level == Level::word) {
  check_input(!existing_codec_ || existing_codec_->level() == options.level,
              "`level` is \"{}\", but the vocabulary of {} has the level \"{}\": set `level` to it",
              name_of(levels, options.level), existing.origin,
              existing_codec_ ? name_of(levels, existing_codec_->level()) : "");
}

void TextEncoder::count(std::string_view training_text) {
  if (options_.level == Level::byte) return;
  if (options_.level == Level::subword) return training_texts_.push_back(training_text);
  for_each_token(options_.level, training_text,
                 [this](std::string_view token) { counts_.add(token); });
}

std::vector<std::string> TextEncoder::chosen_tokens() {
  if (options_.level == Level::byte) return byte_tokens();
  if (options_.level != Level::subword)
    return counts_.chosen(options_.min_count, options_.max_vocabulary);
  check_input(options_.max_vocabulary > 0 || !options_.tokenizer.empty(),
              "`level` = \"subword\" needs `max_vocabulary`, the number of pieces to train, such "
              "as 1000, or `tokenizer`, a model that exists");
  subwords_ =
      options_.tokenizer.empty()
          ? std::make_shared<Subwords>(Subwords::train(training_texts_, options_.max_vocabulary))
          : read_subwords(options_.tokenizer);
  return subwords_->pieces();
}

// Returns the existing tokens, and after them those to add.
std::vector<std::string> TextEncoder::existing_tokens(std::vector<std::string>& notes) {
  const Vocabulary& known = existing_codec_->vocabulary();
  subwords_ = existing_codec_->subwords();
  std::vector<std::string> tokens = known.tokens();
  if (existing_.origin.empty()) return tokens;
  std::string note = fmt::format("vocabulary of {}: {} tokens", existing_.origin, tokens.size());
  if (const TokenCounts lacking = counts_.without(known); lacking.size() > 0) {
    note += fmt::format("; it lacks {} of the training data, which occur {} times: {}",
                        lacking.size(), lacking.total(), lacking.examples(10));
    check_input(existing_.new_tokens != NewTokens::refuse,
                "{}; set `new_tokens` to \"unknown\" to read them as <unk>, or to \"add\"", note);
    const bool adds = existing_.new_tokens == NewTokens::add;
    note += adds ? "; added" : "; read as <unk>";
    const int64_t room = options_.max_vocabulary - std::ssize(tokens);
    if (adds && (options_.max_vocabulary == 0 || room > 0))
      for (std::string& token : lacking.chosen(options_.min_count, std::max<int64_t>(0, room)))
        tokens.push_back(std::move(token));
  }
  notes.push_back(note);
  return tokens;
}

void TextEncoder::choose(const std::vector<std::string>& special_tokens,
                         std::vector<std::string>& notes) {
  std::vector<std::string> tokens = existing_codec_ ? existing_tokens(notes) : chosen_tokens();
  check_input(!tokens.empty(), "{}: the vocabulary is empty: no {} occurs `min_count` = {} times",
              options_.paths.empty() ? options_.path : options_.paths[0],
              name_of(levels, options_.level), options_.min_count);
  for (const std::string& special : special_tokens)  // a tokenizer may have it
    if (std::find(tokens.begin(), tokens.end(), special) == tokens.end()) tokens.push_back(special);
  known_ = std::make_unique<TextCodec>(options_.level, std::move(tokens), subwords_);
}

void TextEncoder::append(std::string_view text, std::vector<int32_t>& ids) {
  const size_t first = ids.size();
  known_->append(text, ids);
  const Vocabulary& vocabulary = known_->vocabulary();
  for (size_t i = first; i < ids.size(); ++i) {
    if (ids[i] != Vocabulary::none) continue;
    check_input(!existing_codec_ || existing_.new_tokens != NewTokens::refuse,
                "the vocabulary of {} lacks token {} of {}; set `new_tokens` to \"unknown\" to "
                "read it as <unk>",
                existing_.origin, i - first + 1, in_quotes(text));
    has_unknown_ = true;
    ids[i] = vocabulary.unknown() == Vocabulary::none ? vocabulary.size() : vocabulary.unknown();
  }
}

std::shared_ptr<const TextCodec> TextEncoder::codec() const {
  std::vector<std::string> tokens = known_->vocabulary().tokens();
  if (has_unknown_ && known_->vocabulary().unknown() == Vocabulary::none)
    tokens.push_back(unknown_token);
  return std::make_shared<TextCodec>(options_.level, std::move(tokens), subwords_);
}

}  // namespace heed
