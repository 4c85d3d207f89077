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

static bool drops_tokens(const DataOptions& options) {
  return options.min_count > 1 || options.max_vocabulary > 0;
}

TextEncoder::TextEncoder(const DataOptions& options, const ExistingVocabulary& existing,
                         std::shared_ptr<const TextCodec> codec)
    : options_(options),
      existing_(existing),
      existing_codec_(std::move(codec)),
      has_unknown_(options.level == Level::word &&
                   !(existing_codec_ && options.kind == &data_kinds::examples) &&
                   (options.command.empty() || drops_tokens(options))) {
  check_input(!existing_codec_ || existing_codec_->level() == options.level,
              "`level` is \"{}\", but the vocabulary of {} has the level \"{}\": set `level` to it",
              name_of(levels, options.level), existing.origin,
              existing_codec_ ? name_of(levels, existing_codec_->level()) : "");
}

void TextEncoder::read(std::string_view text, std::vector<int32_t>& ids) {
  if (options_.level == Level::subword) {
    if (text.empty()) return;
    ids.push_back(static_cast<int32_t>(entries_.size()));
    return void(entries_.push_back({text}));
  }
  for_each_token(options_.level, text,
                 [&](std::string_view token) { ids.push_back(id_of(token)); });
}

int32_t TextEncoder::id_of(std::string_view token) {
  if (options_.level == Level::byte) {
    if (token.size() == 1) return static_cast<unsigned char>(token[0]);
    static const Vocabulary names(byte_tokens());
    check_input(names.find(token) != Vocabulary::none,
                "expected a byte, as one character or as 00 to ff, found {}", in_quotes(token));
    return names.find(token);
  }
  const bool is_short = token.size() < 8;
  uint64_t bytes = 1;
  for (size_t i = 0; is_short && i < token.size(); ++i)
    bytes = bytes << 8 | static_cast<unsigned char>(token[i]);
  Recent& recent = recent_[(bytes * 0x9E3779B97F4A7C15) >> 52];
  if (is_short && recent.bytes == bytes) return recent.id;
  auto found = tokens_.find(token);
  if (found == tokens_.end()) {
    found = tokens_.emplace(token, static_cast<int32_t>(entries_.size())).first;
    entries_.push_back({found->first, 0, /*is_token=*/true});
  }
  if (is_short) recent = {bytes, found->second};
  return found->second;
}

void TextEncoder::count(std::span<const int32_t> ids) {
  if (options_.level == Level::byte) return;
  for (const int32_t id : ids)
    if (id >= 0) ++entries_[static_cast<size_t>(id)].count;
}

TokenCounts TextEncoder::counts() const {
  TokenCounts counts;
  for (const Entry& entry : entries_)
    if (entry.is_token && entry.count > 0) counts.add(entry.text, entry.count);
  return counts;
}

std::vector<std::string> TextEncoder::chosen_tokens() {
  if (options_.level == Level::byte) return byte_tokens();
  if (options_.level != Level::subword)
    return counts().chosen(options_.min_count, options_.max_vocabulary);
  check_input(options_.max_vocabulary > 0 || !options_.tokenizer.empty(),
              "`level` = \"subword\" needs `max_vocabulary`, the number of pieces to train, such "
              "as 1000, or `tokenizer`, a model that exists");
  std::vector<std::string_view> training_texts;
  for (const Entry& entry : entries_)
    for (int64_t n = 0; n < entry.count && !entry.is_token; ++n)
      training_texts.push_back(entry.text);
  subwords_ =
      options_.tokenizer.empty()
          ? std::make_shared<Subwords>(Subwords::train(training_texts, options_.max_vocabulary))
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
  if (const TokenCounts lacking = counts().without(known); lacking.size() > 0) {
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

void TextEncoder::resume() {
  std::vector<std::string> notes;
  choose({}, notes);
  has_unknown_ = known_->vocabulary().unknown() != Vocabulary::none;
  close();
}

int32_t TextEncoder::chosen_id(Entry& entry, int64_t* skipped) {
  const Vocabulary& vocabulary = known_->vocabulary();
  if (entry.id == unchosen)
    entry.id = is_special(entry.text) ? Vocabulary::none : vocabulary.find(entry.text);
  if (entry.id != Vocabulary::none) return entry.id;
  if (skipped) {
    ++*skipped;
    return left_out;
  }
  check_input(!subwords_, "the tokenizer has no piece {}", in_quotes(entry.text));
  check_input(!existing_codec_ || existing_.new_tokens != NewTokens::refuse,
              "the vocabulary of {} lacks the token {}; set `new_tokens` to \"unknown\" to read it "
              "as <unk>",
              existing_.origin, in_quotes(entry.text));
  check_input(!is_closed_ || has_unknown_ || vocabulary.unknown() != Vocabulary::none,
              "the {} {} is not in the vocabulary{}",
              options_.command.empty() ? name_of(levels, options_.level) : "token",
              in_quotes(entry.text),
              options_.command.empty()
                  ? fmt::format(" of {} tokens", vocabulary.size())
                  : ", which is that of the first examples: raise `vocabulary_examples`, or name a "
                    "vocabulary that has it with `vocabulary`");
  has_unknown_ = true;
  return vocabulary.unknown() == Vocabulary::none ? vocabulary.size() : vocabulary.unknown();
}

void TextEncoder::encode(std::vector<int32_t>& ids, int64_t* skipped) {
  if (options_.level == Level::byte) return;
  std::vector<int32_t> pieces;
  for (int32_t& id : ids) {
    Entry* const entry = id < 0 ? nullptr : &entries_[static_cast<size_t>(id)];
    if (entry && subwords_ && !entry->is_token) {
      subwords_->append(entry->text, pieces);
      continue;
    }
    if (entry) id = entry->id >= 0 ? entry->id : chosen_id(*entry, skipped);
    if (subwords_) pieces.push_back(id);
  }
  if (subwords_) ids.swap(pieces);
  if (skipped) std::erase(ids, left_out);
  while (is_closed_ && !entries_.empty() && !entries_.back().is_token) entries_.pop_back();
}

std::shared_ptr<const TextCodec> TextEncoder::codec() const {
  std::vector<std::string> tokens = known_->vocabulary().tokens();
  if (has_unknown_ && known_->vocabulary().unknown() == Vocabulary::none)
    tokens.push_back(unknown_token);
  return std::make_shared<TextCodec>(options_.level, std::move(tokens), subwords_);
}

}  // namespace heed
