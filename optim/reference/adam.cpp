// Adam: each weight steps by the mean of its gradients over their root mean square (Kingma and Ba
// 2015, "Adam: A method for stochastic optimization", algorithm 1). t is the number of the step,
// from 1; g, w, m, v are one element of the gradient, the parameters, and the first and second
// moment:
//
//   g ← g + λ w                          adam: weight decay as L2 regularization
//   m ← β₁ m + (1 - β₁) g
//   v ← β₂ v + (1 - β₂) g²
//   m̂ = m / (1 - β₁ᵗ)                    undoes the start at 0
//   v̂ = v / (1 - β₂ᵗ)                    amsgrad: with the largest v so far (Reddi et al. 2018)
//   w ← w - lr m̂ / (√v̂ + ε)
//   w ← w - lr λ w, with the old w       adamw: decoupled weight decay (Loshchilov and Hutter 2019,
//                                        algorithm 2)
#include <algorithm>
#include <cmath>

#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL::kernels {

// s: consecutive parameters, with their gradients and the settings of the step (optim/optimizer.h).
void adam_step(const UpdateRange& s) {
  const bool decoupled = s.options.kind == &optimizers::adamw;
  const double beta1 = s.options.beta1, beta2 = s.options.beta2, t = static_cast<double>(s.step);
  real* const w = s.parameters;
  const auto [m, v, largest] = s.state;  // `largest` is null without amsgrad
  for (int64_t i = 0; i < s.size; ++i) {
    const double old_w = w[i];
    const double g = s.gradient_scale * s.gradients[i] + (decoupled ? 0 : s.weight_decay * old_w);
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    if (largest) largest[i] = std::max(largest[i], v[i]);
    const double m_hat = m[i] / (1 - std::pow(beta1, t));
    const double v_hat = (largest ? largest[i] : v[i]) / (1 - std::pow(beta2, t));
    w[i] = old_w - s.lr * m_hat / (std::sqrt(v_hat) + s.options.epsilon) -
           (decoupled ? s.lr * s.weight_decay * old_w : 0);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
