// Random numbers without state: number i of a stream is a function of the stream's name and i
// (Philox 4x32-10; Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
// A dropout mask is recomputed in the backward pass instead of stored, evaluation does not change
// training, and a resumed run draws the same numbers as an uninterrupted one.
#pragma once

#include <array>
#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// The use of a stream. Streams of different purposes are independent. The values determine what a
// seed gives: append new ones, never renumber.
enum class Purpose : uint32_t {
  initialisation = 1,
  shuffle = 2,
  dropout = 3,
  generation = 4,
  task = 5,
  test = 8,
  sweep = 9,
  augmentation = 10,
};

using PhiloxBlock = std::array<uint32_t, 4>;  // four random words, or a counter
// Ten rounds of the cipher on one counter give four random words.
PhiloxBlock philox(uint64_t key, PhiloxBlock counter);

// The finaliser of SplitMix64 (Steele et al. 2014): numbers that differ in a bit become unrelated.
uint64_t mixed(uint64_t z);

// The name of a stream: a seed, a purpose and three numbers of any meaning. Those of a Scope are
// step, micro-batch and call.
struct StreamKey {
  uint64_t key = 0;              // seed and purpose, mixed
  uint32_t a = 0, b = 0, c = 0;  // the three numbers

  StreamKey() = default;
  StreamKey(uint64_t seed, Purpose purpose, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  // Words 4i … 4i+3 of the stream, i < 2^32.
  PhiloxBlock block(uint64_t i) const { return philox(key, {static_cast<uint32_t>(i), c, b, a}); }
};

// Reads a stream from its start.
class Random {
 public:
  explicit Random(const StreamKey& stream) : stream_(stream) {}
  Random(uint64_t seed, Purpose purpose, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0)
      : stream_(seed, purpose, a, b, c) {}

  uint32_t next();             // 32 random bits
  double uniform();            // in [0, 1), a multiple of 2^-32
  double normal();             // mean 0, variance 1 (Box-Muller)
  uint64_t below(uint64_t n);  // uniform in [0, n), without bias; n ≥ 1

 private:
  StreamKey stream_;
  PhiloxBlock words_{};
  uint64_t position_ = 0;
};

}  // namespace heed::inline HEED_REAL
