// Random numbers from a counter (Philox 4x32-10; Salmon et al. 2011, "Parallel random numbers: as
// easy as 1, 2, 3").
//
// There is no state to save. A stream is named by (seed, purpose) and a place in training (step,
// micro-batch, call); its element i is a pure function of those and i. So a dropout mask is
// recomputed in the backward pass instead of stored, evaluation never moves a training bit, and a
// resumed run draws what the uninterrupted one would have drawn.
#pragma once

#include <array>
#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// What the numbers are for. Streams of different purposes are independent. The values are part of
// what a seed means: append, never renumber.
enum class Purpose : uint32_t {
  initialisation = 1,
  shuffle = 2,
  dropout = 3,
  generation = 4,
  task = 5,
  test = 8,
};

using PhiloxBlock = std::array<uint32_t, 4>;
// Ten rounds on one counter: four random words.
PhiloxBlock philox(uint64_t key, PhiloxBlock counter);

// The name of a stream.
struct StreamKey {
  uint64_t key = 0;
  uint32_t step = 0, micro_batch = 0, call = 0;

  StreamKey() = default;
  StreamKey(uint64_t seed, Purpose purpose, uint32_t step = 0, uint32_t micro_batch = 0,
            uint32_t call = 0);
  // Words 4i … 4i+3 of the stream, i < 2^32.
  PhiloxBlock block(uint64_t i) const {
    return philox(key, {static_cast<uint32_t>(i), call, micro_batch, step});
  }
};

// Reads a stream from its start.
class Random {
 public:
  explicit Random(const StreamKey& stream) : stream_(stream) {}
  Random(uint64_t seed, Purpose purpose, uint32_t step = 0, uint32_t micro_batch = 0,
         uint32_t call = 0)
      : stream_(seed, purpose, step, micro_batch, call) {}

  uint32_t next();             // 32 random bits
  double uniform();            // in [0, 1), 32 bits fine
  double normal();             // mean 0, variance 1 (Box-Muller)
  uint64_t below(uint64_t n);  // in [0, n), without bias; n ≥ 1

 private:
  StreamKey stream_;
  PhiloxBlock words_{};
  uint64_t position_ = 0;
};

}  // namespace heed::inline HEED_REAL
