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

#include "core/tensor.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Keys (N, capacity, H·K) and values (N, capacity, H·V). The first `length` positions are filled.
struct KeyValues {
  Tensor keys, values;
  int64_t length = 0;

  // The first `length` positions: a copy if the capacity is larger.
  Tensor filled_keys() const;
  Tensor filled_values() const;
  // Appends all positions of `more`. A capacity that is too small is doubled, so that appending is
  // linear in total. Throws Error if gradients are on, which a cache does not support.
  void append(const KeyValues& more);
  // Replaces row n by row rows[n]. Rows may be left out or repeated.
  void select(std::span<const int64_t> rows);
};

class KeyValueCache {
 public:
  explicit KeyValueCache(int64_t rows);

  int64_t rows() const { return static_cast<int64_t>(sources_.size()); }
  // Positions read so far, the same number in each row.
  int64_t length() const { return length_; }
  void advance(int64_t positions) { length_ += positions; }

  // The keys and values of a self-attention at the positions so far, and those of a cross-attention
  // for the encoder's output. Without keys at first.
  KeyValues& past(const Module& attention) { return past_[&attention]; }
  KeyValues& memory(const Module& attention) { return memory_[&attention]; }

  // Lets row n continue what row rows[n] has read. A search passes the parents of the hypotheses it
  // keeps. Throws Error for a row that does not exist.
  void select(std::span<const int64_t> rows);

 private:
  int64_t length_ = 0;
  std::vector<int64_t> sources_;  // for each row, the row of the encoder's output it reads
  std::map<const Module*, KeyValues> past_, memory_;
};

}  // namespace heed::inline HEED_REAL
