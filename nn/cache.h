// What a decoder remembers of the tokens it has read, so that the next one costs the work of one
// token, and not that of all of them once more.
//
//   kept of places 1 … t, in each layer:   kⱼ = W^K xⱼ,  vⱼ = W^V xⱼ
//   the token at place t + 1:              q, k, v = W^Q x, W^K x, W^V x;   k and v are kept too
//                                          z = Σⱼ softmaxⱼ(q·kⱼ / √K) vⱼ,   j ≤ t + 1
//
// (Shazeer 2019, section 2.4.) No place sees a later one, so that what was computed of a place
// holds whatever follows: the results are those of reading all tokens, to rounding. Of an encoder's
// output, which does not grow, keys and values are made once.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "core/tensor.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Keys (N, room, H·K) and values (N, room, H·V), of whose places the first `length` are there.
struct KeyValues {
  Tensor keys, values;
  int64_t length = 0;

  // The first `length` places alone; they are copied where there is more room.
  Tensor keys_there() const;
  Tensor values_there() const;
  // Puts all places of `more` behind those that are there. Room that does not suffice is doubled,
  // so that a place is copied twice at most, however many come. Throws Error where gradients are
  // wanted, which a cache does not remember.
  void append(const KeyValues& more);
  // Row n becomes what row rows[n] was: rows may be left out, and named several times.
  void select(std::span<const int64_t> rows);
};

class KeyValueCache {
 public:
  explicit KeyValueCache(int64_t rows);

  int64_t rows() const { return static_cast<int64_t>(sources_.size()); }
  // Places read so far, the same number in each row.
  int64_t length() const { return length_; }
  void advance(int64_t places) { length_ += places; }

  // What a self-attention keeps of the places before, and what a cross-attention has made of the
  // encoder's output; without keys at first.
  KeyValues& past(const Module& attention) { return past_[&attention]; }
  KeyValues& memory(const Module& attention) { return memory_[&attention]; }

  // Row n goes on from what row rows[n] has read. A search calls it with the parents of the
  // hypotheses it keeps. Throws Error for a row that is not there.
  void select(std::span<const int64_t> rows);

 private:
  int64_t length_ = 0;
  std::vector<int64_t> sources_;  // of each row: the row of the encoder's output it reads
  std::map<const Module*, KeyValues> past_, memory_;
};

}  // namespace heed::inline HEED_REAL
