#include <cmath>

#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL::kernels {

// Step r.step (1, 2, …) of Adam, or of AdamW, on r.size parameters w. m and v are zeros before the
// first step, and keep what you write into them.
void adam_step(const UpdateRange& r) {
  const bool decoupled = r.options.kind == &optimizers::adamw;  // AdamW
  const double beta1 = r.options.beta1, beta2 = r.options.beta2;
  const double correction1 = 1 - std::pow(beta1, r.step), correction2 = 1 - std::pow(beta2, r.step);
  real *const w = r.parameters, *const m = r.state[0], *const v = r.state[1];
  for (int64_t i = 0; i < r.size; ++i) {
    const double gradient = r.gradient_scale * r.gradients[i];
    const double g = decoupled ? gradient : gradient + r.weight_decay * w[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    const double decay = decoupled ? r.lr * r.weight_decay * w[i] : 0;
    w[i] -=
        r.lr * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + r.options.epsilon) + decay;
  }
}

}  // namespace heed::inline HEED_REAL::kernels
