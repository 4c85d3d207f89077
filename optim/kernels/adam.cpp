#include <algorithm>
#include <cmath>

#include "core/kernels/fma.h"
#include "optim/arena.h"
#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The factors of a step, computed once in double.
struct Factors {
  real scale;                // of the gradient
  real l2;                   // adam's weight decay, 0 for adamw
  real keep;                 // 1 - lr · weight_decay of adamw, 1 for adam
  real beta1, beta2;         // β₁, β₂
  real new1, new2;           // 1 - β₁, 1 - β₂
  real rate;                 // lr / (1 - β₁ᵗ)
  real correction, epsilon;  // 1 / √(1 - β₂ᵗ), ε

  explicit Factors(const UpdateRange& r)
      : scale(static_cast<real>(r.gradient_scale)),
        beta1(static_cast<real>(r.options.beta1)),
        beta2(static_cast<real>(r.options.beta2)),
        new1(static_cast<real>(1 - r.options.beta1)),
        new2(static_cast<real>(1 - r.options.beta2)),
        epsilon(static_cast<real>(r.options.epsilon)) {
    const bool decoupled = r.options.kind == &optimizers::adamw;
    const double t = static_cast<double>(r.step);
    l2 = static_cast<real>(decoupled ? 0 : r.weight_decay);
    keep = static_cast<real>(decoupled ? 1 - r.lr * r.weight_decay : 1);
    rate = static_cast<real>(r.lr / (1 - std::pow(r.options.beta1, t)));
    correction = static_cast<real>(1 / std::sqrt(1 - std::pow(r.options.beta2, t)));
  }
};

template <bool amsgrad>
void update(const UpdateRange& range) {
  const Factors f(range);
  const int64_t n = range.size;
  const real* const g = range.gradients;
  real *const w = range.parameters, *const m = range.state[0], *const v = range.state[1],
              *const largest = range.state[2];
  for (int64_t first = 0; first < n; first += Arena::line) {
    Arena::fetch_ahead(g + first);
    Arena::fetch_ahead(w + first);
    Arena::fetch_ahead(m + first);
    Arena::fetch_ahead(v + first);
    if constexpr (amsgrad) Arena::fetch_ahead(largest + first);
#pragma omp simd
    for (int64_t i = first; i < first + Arena::line; ++i) {
      const real gradient = fma(f.l2, w[i], f.scale * g[i]);
      m[i] = fma(f.beta1, m[i], f.new1 * gradient);
      v[i] = fma(f.beta2, v[i], f.new2 * gradient * gradient);
      if constexpr (amsgrad) largest[i] = std::max(largest[i], v[i]);
      const real second = amsgrad ? largest[i] : v[i];
      const real root = fma(std::sqrt(second), f.correction, f.epsilon);
      w[i] = fma(f.keep, w[i], -f.rate * m[i] / root);
    }
  }
}

}  // namespace

void adam_step(const UpdateRange& range) {
  if (range.options.amsgrad)
    update<true>(range);
  else
    update<false>(range);
}

}  // namespace heed::inline HEED_REAL::kernels
