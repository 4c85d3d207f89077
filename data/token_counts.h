// Counts tokens, to choose a vocabulary from the training data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary.h"

namespace heed {

class TokenCounts {
 public:
  void add(std::string_view token, int64_t count = 1);  // adds occurrences
  // Returns the tokens with at least `min_count` occurrences, in byte order; of these only the
  // `max_size` most frequent ones (0: all; ties in byte order). Leaves out special tokens.
  std::vector<std::string> chosen(int64_t min_count, int64_t max_size) const;

  // Returns the counts of the tokens that a vocabulary lacks, without special tokens.
  TokenCounts without(const Vocabulary& vocabulary) const;
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }  // distinct tokens
  int64_t total() const;                                                 // occurrences
  // Returns the most frequent tokens, made safe to show: "\"é\", \"ß\", …".
  std::string examples(int64_t count) const;

 private:
  StringMap<int64_t> counts_;
};

}  // namespace heed
