#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL::kernels {

void sgd_step(const UpdateRange& range) {
  const real lr = static_cast<real>(range.lr), scale = static_cast<real>(range.gradient_scale),
             decay = static_cast<real>(range.weight_decay),
             momentum = static_cast<real>(range.options.momentum);
  const bool nesterov = range.options.nesterov;
  const int64_t n = range.size;
  const real* const g = range.gradients;
  real *const w = range.parameters, *const buffer = range.state[0];
  if (!buffer) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) w[i] -= lr * (scale * g[i] + decay * w[i]);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const real gradient = scale * g[i] + decay * w[i];
    const real b = momentum * buffer[i] + gradient;
    buffer[i] = b;
    w[i] -= lr * (nesterov ? gradient + momentum * b : b);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
