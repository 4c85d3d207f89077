// Example i of an epoch, without a list: a shuffle that is a formula.
//
// Training visits each example once per epoch, and every epoch is shuffled anew:
// index = permutation of [0, size) named by (seed, epoch), at position mod size; epoch = position
// div size. Nothing is stored: the permutation is a Feistel network with Philox as its round
// function, on the smallest power of two ≥ size (at least 64), applied repeatedly until the result
// is below size (Black and Rogaway 2002, "Ciphers with arbitrary finite domains", cycle walking).
// So the position is the whole state of the sampler, any position is reached at once, and the
// dataset may be too large for any list.
#pragma once

#include <cstdint>

namespace heed {

class Shuffle {
 public:
  // Throws Error unless 1 ≤ size ≤ 2^62.
  Shuffle(int64_t size, uint64_t seed);
  int64_t operator()(int64_t position) const;  // the index, in [0, size)

 private:
  int64_t size_;
  uint64_t seed_;
  int low_bits_, high_bits_;  // the two halves of a number of the domain
};

}  // namespace heed
