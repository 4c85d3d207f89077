// The key/value cache of a decoder: the next token costs the work of one token, not of all of them.
//
// clang-format off
//   kept for positions 1 … t, in each layer:   kⱼ = W^K xⱼ,  vⱼ = W^V xⱼ
//   the token at position t + 1:               q, k, v = W^Q x, W^K x, W^V x;  k and v are appended
//                                              z = Σⱼ softmaxⱼ(q·kⱼ / √K) vⱼ,   j ≤ t + 1
// clang-format on
//
// (Shazeer 2019, section 2.4.) No position depends on a later one, so keys and values never change:
// the results are those of reading all tokens, to rounding. The encoder's output does not grow, so
// its keys and values are computed once.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "nn/mixing.h"

namespace heed::inline HEED_REAL {

// What a decoder has read in each of its rows, with a table for each of its attentions.
class KeyValueCache : public Past {
 public:
  explicit KeyValueCache(int64_t rows);

  int64_t rows() const { return std::ssize(sources_); }  // N, the sequences that are continued
  // For each row, the row of the encoder's output that it reads.
  std::span<const int64_t> sources() const { return sources_; }
  int64_t length() const override { return length_; }
  void advance(int64_t positions) override { length_ += positions; }
  // A capacity that is too small is doubled, so that appending is linear in total. Throws Error if
  // gradients are on, which a cache does not support, or the rows or widths differ.
  const KeyValues& append(const Module& attention, const KeyValues& more) override;
  KeyValues& memory(const Module& attention) override { return memory_[&attention]; }
  // The keys and values of a self-attention at the positions so far: (N, capacity, H·K). Without
  // keys at first.
  const KeyValues& past(const Module& attention) { return past_[&attention]; }

  // Lets row n continue what row rows[n] has read. A search passes the parents of the hypotheses it
  // keeps. Throws Error for a row that does not exist.
  void select(std::span<const int64_t> rows);

 private:
  int64_t length_ = 0;
  std::vector<int64_t> sources_;
  std::map<const Module*, KeyValues> past_, memory_;
};

}  // namespace heed::inline HEED_REAL
