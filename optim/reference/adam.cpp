// Adam and AdamW, as in the papers. t is the number of the step; g, w, m, v are one element of the
// gradient, the parameters, and the first and second moment.
//
// Kingma and Ba 2015, "Adam: A method for stochastic optimization", algorithm 1 (lr is the paper's
// α), and Loshchilov and Hutter 2019, "Decoupled weight decay regularization", algorithm 2 (λ is
// weight_decay; its two forms are marked as there):
//
//   g ← g + λ w                          Adam with L2 regularization
//   m ← β₁ m + (1 − β₁) g
//   v ← β₂ v + (1 − β₂) g²
//   m̂ = m / (1 − β₁ᵗ)
//   v̂ = v / (1 − β₂ᵗ)                    amsgrad: with the largest v so far (Reddi et al. 2018)
//   w ← w − lr m̂ / (√v̂ + ε)
//   w ← w − lr λ w, with the old w       AdamW: Adam with decoupled weight decay
#include "optim/adam.h"

#include <algorithm>
#include <cmath>

namespace heed::inline HEED_REAL::kernels {

void adam_step(const AdamStep& s, int64_t n, const real* gradient, real* w, real* m, real* v,
               real* largest) {
  const double t = static_cast<double>(s.t);
  for (int64_t i = 0; i < n; ++i) {
    const double old_w = w[i];
    const double g = s.gradient_scale * gradient[i] + (s.decoupled ? 0 : s.weight_decay * old_w);
    m[i] = s.beta1 * m[i] + (1 - s.beta1) * g;
    v[i] = s.beta2 * v[i] + (1 - s.beta2) * g * g;
    if (largest) largest[i] = std::max(largest[i], v[i]);
    const double m_hat = m[i] / (1 - std::pow(s.beta1, t));
    const double v_hat = (largest ? largest[i] : v[i]) / (1 - std::pow(s.beta2, t));
    w[i] = old_w - s.lr * m_hat / (std::sqrt(v_hat) + s.epsilon) -
           (s.decoupled ? s.lr * s.weight_decay * old_w : 0);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
