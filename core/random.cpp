// Defines random.h: the cipher, the names of streams, then what a stream is read as.
#include "core/random.h"

#include <cmath>
#include <numbers>

#include "core/check.h"

namespace heed::inline HEED_REAL {

// Each round multiplies two words to 64 bits, swaps the halves and mixes them with the others. The
// multipliers are those of Philox.
PhiloxBlock philox(uint64_t key, PhiloxBlock c) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;  // the golden ratio
    k1 += 0xBB67AE85;  // the square root of 3, less 1
  }
  return c;
}

uint64_t mixed(uint64_t z) {  // shifts and multipliers of SplitMix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

StreamKey::StreamKey(uint64_t seed, Purpose purpose, uint32_t a_, uint32_t b_, uint32_t c_)
    : key(mixed(mixed(seed + 0x9E3779B97F4A7C15) + static_cast<uint64_t>(purpose))),
      a(a_),
      b(b_),
      c(c_) {}

uint32_t Random::next() {
  const size_t lane = position_ % 4;
  if (lane == 0) words_ = stream_.block(position_ / 4);
  ++position_;
  return words_[lane];
}

double Random::uniform() { return next() * 0x1p-32; }

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

uint64_t Random::below(uint64_t n) {
  check(n >= 1, "random: cannot draw below 0");
  // Rejecting the remainder of 2^64 words divided by n makes every result equally likely.
  const uint64_t rejected = (0 - n) % n;  // 2^64 mod n, in 64 bits
  for (;;) {
    const uint64_t high = next();
    const uint64_t word = high << 32 | next();
    if (word >= rejected) return word % n;
  }
}

}  // namespace heed::inline HEED_REAL
