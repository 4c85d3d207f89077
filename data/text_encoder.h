// Chooses a vocabulary from the training data, and encodes all splits with it.
//
// Call read() with the text of all splits, count() with what it read of training, then choose(),
// then encode() with each text that was read, then codec(). A text is read once: until choose()
// tokens have provisional ids, in the order in which they occur. The vocabulary has <unk> at word
// level, and at character level if some text has a character that training does not have. <unk> is
// the last token, so its id is known in advance. At subword level the tokens are the pieces of
// data.tokenizer, or of one trained on the training text, and no token is unknown.
//
// An existing vocabulary keeps its tokens and ids. What it lacks becomes <unk>, is added after its
// tokens, or is an error: see data/text_codec.h.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/options.h"
#include "data/text_codec.h"
#include "data/token_counts.h"

namespace heed {

class TextEncoder {
 public:
  // Uses level, min_count, max_vocabulary and tokenizer. `codec` is that of `existing` to use, or
  // null. Both must outlive the encoder. Throws InputError if the codec is of another level.
  TextEncoder(const DataOptions& options, const ExistingVocabulary& existing,
              std::shared_ptr<const TextCodec> codec);
  // Appends the provisional ids of a text's tokens. At subword level the text must outlive
  // encode().
  void read(std::string_view text, std::vector<int32_t>& ids);
  // Returns the provisional id of one token: at byte level a byte or its name, such as "0a"; at
  // subword level a piece. Throws InputError if it is no byte.
  int32_t id_of(std::string_view token);
  void count(std::span<const int32_t> ids);  // counts what was read of a training text
  // Adds a note on an existing vocabulary. Throws InputError if no token is left, or if the
  // existing vocabulary lacks some and none may be new.
  void choose(const std::vector<std::string>& special_tokens, std::vector<std::string>& notes);
  // Replaces provisional ids by those of the vocabulary. Negative ones stay. Throws InputError for
  // a token that an existing vocabulary lacks, if none may be new. With `skipped` it is left out
  // instead, and counted there.
  void encode(std::vector<int32_t>& ids, int64_t* skipped = nullptr);
  // Ends the vocabulary: from now on encode() throws InputError for a token that it lacks, and
  // texts of subwords need not outlive the call of encode().
  void close() { is_closed_ = true; }
  // Chooses and ends the existing vocabulary, to encode what a trained model is to read.
  void resume();
  std::shared_ptr<const TextCodec> codec() const;

 private:
  static constexpr int32_t unchosen = -2, left_out = -3;
  // By provisional id, except at byte level, where it is the byte. At subword level a text has one.
  struct Entry {
    std::string_view text;
    int64_t count = 0;      // occurrences in training
    bool is_token = false;  // not a text of subwords
    int32_t id = unchosen;  // in the vocabulary, `none` if that lacks it
  };

  TokenCounts counts() const;  // of the tokens of training
  std::vector<std::string> chosen_tokens();
  std::vector<std::string> existing_tokens(std::vector<std::string>& notes);
  int32_t chosen_id(Entry& entry, int64_t* skipped);

  const DataOptions& options_;
  const ExistingVocabulary& existing_;
  std::shared_ptr<const TextCodec> existing_codec_;  // may be null
  std::vector<Entry> entries_;
  StringMap<int32_t> tokens_;  // provisional ids
  // The last short token of each slot. Most lines have the same few tokens.
  struct Recent {
    uint64_t bytes = 0;  // 1, and then those of the token, at most 7
    int32_t id = 0;
  };
  std::array<Recent, 4096> recent_ = {};
  std::shared_ptr<const Subwords> subwords_;
  std::unique_ptr<TextCodec> known_;  // without <unk>
  bool has_unknown_;
  bool is_closed_ = false;
};

}  // namespace heed
