#include "optim/sgd.h"

namespace heed::inline HEED_REAL::kernels {

void sgd_step(const SgdStep& step, int64_t n, const real* g, real* w, real* buffer) {
  const real lr = static_cast<real>(step.lr), scale = static_cast<real>(step.gradient_scale),
             decay = static_cast<real>(step.weight_decay),
             momentum = static_cast<real>(step.momentum);
  const bool nesterov = step.nesterov;
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
