// Chooses a vocabulary from the training data, and encodes all splits with it.
//
// Call count() with all training text, then choose(), then append() with the text of any split,
// then codec(). The vocabulary has <unk> at word level, and at character level if some text has a
// character that training does not have. <unk> is the last token, so its id is known in advance.
// At subword level the tokens are the pieces of data.tokenizer, or of one trained on the training
// text, and no token is unknown.
//
// An existing vocabulary keeps its tokens and ids. What it lacks becomes <unk>, is added after its
// tokens, or is an error: see data/text_codec.h.
#pragma once

#include <memory>
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
  // At subword level the text must outlive choose().
  void count(std::string_view training_text);
  // Adds a note on an existing vocabulary. Throws InputError if no token is left, or if the
  // existing vocabulary lacks some and none may be new.
  void choose(const std::vector<std::string>& special_tokens, std::vector<std::string>& notes);
  void append(std::string_view text, std::vector<int32_t>& ids);
  std::shared_ptr<const TextCodec> codec() const;

 private:
  std::vector<std::string> chosen_tokens();
  std::vector<std::string> existing_tokens(std::vector<std::string>& notes);

  const DataOptions& options_;
  const ExistingVocabulary& existing_;
  std::shared_ptr<const TextCodec> existing_codec_;  // may be null
  TokenCounts counts_;
  std::vector<std::string_view> training_texts_;  // at subword level
  std::shared_ptr<const Subwords> subwords_;
  std::unique_ptr<TextCodec> known_;  // without <unk>
  bool has_unknown_;
};

}  // namespace heed
