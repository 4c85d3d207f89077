// Defines data/sampler.h: the halves of the network, then its rounds.
#include "data/sampler.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/random.h"

namespace heed {

Shuffle::Shuffle(int64_t size, uint64_t seed) : size_(size), seed_(seed) {
  check(size >= 1 && size <= int64_t{1} << 62, "shuffle: cannot order {} examples", size);
  // With halves of less than three bits some permutations are more likely than others.
  const int bits = std::max(6, static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1))));
  low_bits_ = (bits + 1) / 2;
  high_bits_ = bits - low_bits_;
}

int64_t Shuffle::operator()(int64_t position) const {
  if (size_ == 1) return 0;       // at once, not after some 64 walks
  constexpr uint32_t rounds = 8;  // four are enough for large domains (Luby and Rackoff 1988)
  const auto epoch = static_cast<uint64_t>(position / size_);
  StreamKey key(seed_, Purpose::shuffle, static_cast<uint32_t>(epoch),
                static_cast<uint32_t>(epoch >> 32));
  auto index = static_cast<uint64_t>(position % size_);
  do {
    uint64_t low = index & ((uint64_t{1} << low_bits_) - 1), high = index >> low_bits_;
    for (uint32_t round = 0; round < rounds; ++round) {
      key.c = round;
      if (round % 2 == 0)
        low ^= key.block(high)[0] & ((uint64_t{1} << low_bits_) - 1);
      else
        high ^= key.block(low)[0] & ((uint64_t{1} << high_bits_) - 1);
    }
    index = high << low_bits_ | low;
  } while (index >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(index);
}

}  // namespace heed
