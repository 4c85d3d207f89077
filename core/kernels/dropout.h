// Dropout (Srivastava et al. 2014) by a mask that is a function of its stream.
#pragma once

#include "core/destination.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::kernels {

// What becomes of a number by its random word: 0 below the threshold, else `kept` times itself.
struct Dropping {
  uint32_t threshold;
  real kept;
  explicit Dropping(double probability)
      : threshold(static_cast<uint32_t>(probability * 0x1p32)),
        kept(static_cast<real>(1 / (1 - probability))) {}
};

// to[i] = 0 where word i of the stream, as a fraction of 2^32, is below `probability`, else
// x[i] / (1 - probability). Backward is the same function of dy.
void dropout(int64_t n, const StreamKey& stream, double probability, const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
