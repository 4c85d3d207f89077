#include "optim/adam.h"

#include <algorithm>
#include <cmath>

namespace heed::inline HEED_REAL::kernels {
namespace {

// The factors of a step, computed once in double.
struct Factors {
  real scale;                // of the gradient
  real l2;                   // adam's weight decay, 0 for adamw
  real keep;                 // 1 − lr · weight_decay of adamw, 1 for adam
  real beta1, beta2;         // β₁, β₂
  real new1, new2;           // 1 − β₁, 1 − β₂
  real rate;                 // lr / (1 − β₁ᵗ)
  real correction, epsilon;  // 1 / √(1 − β₂ᵗ), ε

  explicit Factors(const AdamStep& s)
      : scale(static_cast<real>(s.gradient_scale)),
        l2(static_cast<real>(s.decoupled ? 0 : s.weight_decay)),
        keep(static_cast<real>(s.decoupled ? 1 - s.lr * s.weight_decay : 1)),
        beta1(static_cast<real>(s.beta1)),
        beta2(static_cast<real>(s.beta2)),
        new1(static_cast<real>(1 - s.beta1)),
        new2(static_cast<real>(1 - s.beta2)),
        rate(static_cast<real>(s.lr / (1 - std::pow(s.beta1, static_cast<double>(s.t))))),
        correction(
            static_cast<real>(1 / std::sqrt(1 - std::pow(s.beta2, static_cast<double>(s.t))))),
        epsilon(static_cast<real>(s.epsilon)) {}
};

template <bool amsgrad>
void update(const Factors& f, int64_t n, const real* g, real* w, real* m, real* v, real* largest) {
  for (int64_t first = 0; first < n; first += Arena::line) {
    Arena::fetch_ahead(g + first);
    Arena::fetch_ahead(w + first);
    Arena::fetch_ahead(m + first);
    Arena::fetch_ahead(v + first);
    if constexpr (amsgrad) Arena::fetch_ahead(largest + first);
#pragma omp simd
    for (int64_t i = first; i < first + Arena::line; ++i) {
      const real gradient = f.scale * g[i] + f.l2 * w[i];
      m[i] = f.beta1 * m[i] + f.new1 * gradient;
      v[i] = f.beta2 * v[i] + f.new2 * gradient * gradient;
      if constexpr (amsgrad) largest[i] = std::max(largest[i], v[i]);
      const real second = amsgrad ? largest[i] : v[i];
      w[i] = f.keep * w[i] - f.rate * m[i] / (std::sqrt(second) * f.correction + f.epsilon);
    }
  }
}

}  // namespace

void adam_step(const AdamStep& step, int64_t n, const real* g, real* w, real* mean,
               real* mean_square, real* largest) {
  const Factors factors(step);
  if (largest)
    update<true>(factors, n, g, w, mean, mean_square, largest);
  else
    update<false>(factors, n, g, w, mean, mean_square, nullptr);
}

}  // namespace heed::inline HEED_REAL::kernels
