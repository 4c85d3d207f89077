// Converts text to ids and back, with a vocabulary and the level of its tokens.
//
// Generation needs nothing else of the data. A level and a list of tokens restore a codec, with a
// model of SentencePiece for subwords.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "data/subwords.h"
#include "data/tokens.h"
#include "data/vocabulary.h"

namespace heed {

class TextCodec {
 public:
  // Throws InputError for tokens that Vocabulary rejects, unless the first 256 tokens are
  // byte_tokens() at byte level, and unless the first tokens are the pieces of `subwords`, which
  // must not be null, at subword level.
  TextCodec(Level level, std::vector<std::string> tokens,
            std::shared_ptr<const Subwords> subwords = nullptr);

  // Returns the same codec for plain text: see Vocabulary::disable_marks().
  TextCodec without_marks() const {
    TextCodec codec = *this;
    codec.vocabulary_.disable_marks();
    return codec;
  }

  Level level() const { return level_; }  // what a token is
  // Returns the model of SentencePiece at subword level, otherwise null.
  const std::shared_ptr<const Subwords>& subwords() const { return subwords_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }  // tokens and ids

  // Returns the ids of a text. A token outside the vocabulary becomes <unk>. With `skipped` it is
  // left out instead, and counted there. Throws InputError that names the token if the vocabulary
  // has no <unk>, or the offset if the text is not UTF-8. A special token spelled out in a text is
  // treated as an ordinary one.
  std::vector<int32_t> encode(std::string_view text, int64_t* skipped = nullptr) const;
  // Appends the ids to `ids`, with Vocabulary::none for tokens outside the vocabulary.
  void append(std::string_view text, std::vector<int32_t>& ids) const;
  // Returns the prompt of a language model: <bos> text <sep>, with those special tokens that the
  // vocabulary has. Throws as encode() does.
  std::vector<int32_t> prompt(std::string_view text, int64_t* skipped = nullptr) const;

  // Returns the text without <bos> and <eos>, words separated by one space. At byte and subword
  // level the result need not be UTF-8. Throws Error for an id outside the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;

 private:
  int32_t id_of(std::string_view token) const;

  Level level_;
  Vocabulary vocabulary_;
  std::shared_ptr<const Subwords> subwords_;  // at subword level
};

// How tokens that the vocabulary lacks are handled.
enum class NewTokens { refuse, unknown, add };
// Each word of a config with its rule.
inline constexpr Named<NewTokens> new_tokens_names[] = {
    {"refuse", NewTokens::refuse}, {"unknown", NewTokens::unknown}, {"add", NewTokens::add}};

// A vocabulary that exists, with which data are read.
struct ExistingVocabulary {
  // One object for one vocabulary. Both null: chosen from the data.
  std::shared_ptr<const TextCodec> source, target;
  std::string origin;  // its run or file, for messages; empty for the run that the data are of
  // Added tokens follow the existing ones, so that no id changes. They are those of training;
  // others become <unk>.
  NewTokens new_tokens = NewTokens::refuse;
};

// The 256 bytes as tokens: "00" … "ff".
std::vector<std::string> byte_tokens();

}  // namespace heed
