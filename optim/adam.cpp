#include "optim/adam.h"

#include <algorithm>
#include <cmath>

namespace heed::inline HEED_REAL {
namespace {

struct Rule {
  real scale;                // of the gradient
  real l2;                   // adam's weight decay, 0 for adamw
  real keep;                 // 1 − lr · weight_decay of adamw, 1 for adam
  real beta1, beta2;         // β₁, β₂
  real new1, new2;           // 1 − β₁, 1 − β₂, subtracted in double
  real rate;                 // lr / (1 − β₁ᵗ)
  real correction, epsilon;  // 1 / √(1 − β₂ᵗ), ε
};

// g, w, m, v, largest: n numbers, whole lines; `largest` is read and written by amsgrad alone.
template <bool amsgrad>
void descend(int64_t n, Rule rule, const real* g, real* w, real* m, real* v, real* largest) {
  for (int64_t first = 0; first < n; first += Arena::line) {
    Arena::fetch_ahead(g + first);
    Arena::fetch_ahead(w + first);
    Arena::fetch_ahead(m + first);
    Arena::fetch_ahead(v + first);
    if constexpr (amsgrad) Arena::fetch_ahead(largest + first);
#pragma omp simd
    for (int64_t i = first; i < first + Arena::line; ++i) {
      const real gradient = rule.scale * g[i] + rule.l2 * w[i];
      m[i] = rule.beta1 * m[i] + rule.new1 * gradient;
      v[i] = rule.beta2 * v[i] + rule.new2 * gradient * gradient;
      if constexpr (amsgrad) largest[i] = std::max(largest[i], v[i]);
      const real second = amsgrad ? largest[i] : v[i];
      w[i] = rule.keep * w[i] -
             rule.rate * m[i] / (std::sqrt(second) * rule.correction + rule.epsilon);
    }
  }
}

}  // namespace

Adam::Adam(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : Optimizer(options, std::move(parameters)),
      exp_avg_(add_state("exp_avg")),
      exp_avg_sq_(add_state("exp_avg_sq")) {
  if (options.amsgrad) max_exp_avg_sq_ = add_state("max_exp_avg_sq");
}

void Adam::update(double lr, double scale) {
  const OptimOptions& o = options_;
  const auto t = static_cast<double>(steps());
  const double decay = o.weight_decay;
  const bool apart = o.kind == OptimOptions::Kind::adamw;
  arena_.for_each_range([&](int64_t first, int64_t last, bool matrix) {
    const Rule rule{
        .scale = static_cast<real>(scale),
        .l2 = static_cast<real>(matrix && !apart ? decay : 0),
        .keep = static_cast<real>(matrix && apart ? 1 - lr * decay : 1),
        .beta1 = static_cast<real>(o.beta1),
        .beta2 = static_cast<real>(o.beta2),
        .new1 = static_cast<real>(1 - o.beta1),
        .new2 = static_cast<real>(1 - o.beta2),
        .rate = static_cast<real>(lr / (1 - std::pow(o.beta1, t))),
        .correction = static_cast<real>(1 / std::sqrt(1 - std::pow(o.beta2, t))),
        .epsilon = static_cast<real>(o.epsilon),
    };
    const real* g = arena_.gradients() + first;
    real* w = arena_.numbers() + first;
    real* m = exp_avg_ + first;
    real* v = exp_avg_sq_ + first;
    if (max_exp_avg_sq_) {
      descend<true>(last - first, rule, g, w, m, v, max_exp_avg_sq_ + first);
    } else {
      descend<false>(last - first, rule, g, w, m, v, nullptr);
    }
  });
}

}  // namespace heed::inline HEED_REAL
