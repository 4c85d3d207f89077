// Chooses a vocabulary from the training data, and encodes all splits with it.
//
// Call count() with all training text, then choose(), then append() with the text of any split,
// then codec(). The vocabulary has <unk> at word level, and at character level if some text has a
// character that training does not have. <unk> is the last token, so its id is known in advance.
// At subword level the tokens are the pieces of data.tokenizer, or of one trained on the training
// text, and no token is unknown.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/options.h"
#include "data/text_codec.h"

namespace heed {

class TextEncoder {
 public:
  // Uses level, min_count, max_vocabulary and tokenizer.
  explicit TextEncoder(const DataOptions& options);
  // At subword level the text must outlive choose().
  void count(std::string_view training_text);
  // Throws InputError if no token is left.
  void choose(const std::vector<std::string>& special_tokens);
  void append(std::string_view text, std::vector<int32_t>& ids);
  std::shared_ptr<const TextCodec> codec() const;

 private:
  std::vector<std::string> ordinary_tokens();

  Level level_;
  int64_t min_count_, max_vocabulary_;
  std::string tokenizer_;  // a path
  TokenCounts counts_;
  std::vector<std::string_view> training_texts_;  // at subword level
  std::shared_ptr<const Subwords> subwords_;
  std::unique_ptr<TextCodec> known_;  // without <unk>
  bool has_unknown_;
};

}  // namespace heed
