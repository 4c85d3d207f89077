// Dropout (Srivastava et al. 2014). The mask is a function of a random stream, so backward draws it
// again instead of storing it.
#pragma once

#include "core/destination.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::kernels {

// Drops an element if its random word is below the threshold, and multiplies it by `scale` if not.
struct DropoutRule {
  uint32_t threshold;
  real scale;
  explicit DropoutRule(double probability)
      : threshold(static_cast<uint32_t>(probability * 0x1p32)),
        scale(static_cast<real>(1 / (1 - probability))) {}
};

// to[i] = 0 if word i of the stream, as a fraction of 2^32, is below `probability`, else
// x[i] / (1 - probability), i < n. Backward is the same function of dy.
void dropout(int64_t n, const StreamKey& stream, double probability, const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
