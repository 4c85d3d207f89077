// The order in which training meets its examples: every one once an epoch, each epoch shuffled
// anew.
//
// index = permutation of [0, size) named by (seed, epoch), at position mod size; epoch = position
// div size. Nothing is stored: the permutation is a Feistel network whose round function is Philox,
// on the smallest power of two that holds `size` (64 at least), walked until it lands inside (Black
// and Rogaway 2002, "Ciphers with arbitrary finite domains", cycle walking). So the sampler's state
// is the position, any place is reached at once, and a set may be too large for any list.
#pragma once

#include <cstdint>

namespace heed {

class Shuffle {
 public:
  // 1 ≤ size ≤ 2^62; throws Error otherwise.
  Shuffle(int64_t size, uint64_t seed);
  int64_t operator()(int64_t position) const;

 private:
  int64_t size_;
  uint64_t seed_;
  int low_bits_, high_bits_;  // a number of the domain is cut into two halves
};

}  // namespace heed
