// Builds a vocabulary from the training side and encodes every side with it.
//
// First count() all training text, then choose(), then append() text of any split, then codec().
// <unk> is in the vocabulary at the level of words, and at that of characters if some text has one
// that is not known; as it is the last symbol its id is settled before that is.
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
  // Uses level, min_count and max_vocabulary.
  explicit TextEncoder(const DataOptions& options);
  void count(std::string_view training_text);
  // Throws InputError if no symbol is left.
  void choose(const std::vector<std::string>& special_symbols);
  void append(std::string_view text, std::vector<int32_t>& ids);
  std::shared_ptr<const TextCodec> codec() const;

 private:
  Level level_;
  int64_t min_count_, max_vocabulary_;
  SymbolCounts counts_;
  std::unique_ptr<TextCodec> known_;  // without <unk>
  bool met_unknown_;
};

}  // namespace heed
