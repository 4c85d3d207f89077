// Dropout (Srivastava et al. 2014), with the mask that a random stream determines.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = 0 with probability `probability`, else x[i] / (1 - probability)
void dropout(int64_t n, const StreamKey& stream, double probability, const real* x,
             Destination to) {
  const DropoutRule rule(probability);
  for (int64_t i = 0; i < bound(n); ++i) {
    const uint32_t word = stream.block(static_cast<uint64_t>(i / 4))[static_cast<size_t>(i % 4)];
    write(to, i, word < rule.threshold ? 0 : double{rule.scale} * x[i]);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
