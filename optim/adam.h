// Adam (Kingma and Ba 2015, algorithm 1), with weight decay added to the gradient (adam) or
// decoupled from it (adamw; Loshchilov and Hutter 2019, algorithm 2). amsgrad: Reddi et al. 2018.
// Step t:
//
// clang-format off
//   g = gradient + weight_decay · w      adam    |   g = gradient      adamw
//                                                |   w ← w − lr · weight_decay · w
//   m ← β₁ m + (1 − β₁) g                exp_avg: mean of gradients
//   v ← β₂ v + (1 − β₂) g²               exp_avg_sq: mean of squared gradients
//   w ← w − lr · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε)
// clang-format on
//
// amsgrad replaces v in the last line by the maximum v so far (max_exp_avg_sq).
#pragma once

#include "optim/arena.h"

namespace heed::inline HEED_REAL::kernels {

// What one step of Adam depends on, besides the parameters.
struct AdamStep {
  int64_t t;  // number of the step, from 1
  double lr;
  double beta1, beta2;    // β₁, β₂
  double epsilon;         // ε
  double weight_decay;    // 0 for none
  bool decoupled;         // adamw: weight decay acts on the parameters, not on the gradient
  double gradient_scale;  // multiplies every gradient
};

// Updates n parameters w and their state with gradients g, all arrays (n), in place. `mean` is m,
// `mean_square` is v; `largest`, the largest v so far, is null except for amsgrad. The arrays start
// at a cache line and n is a multiple of Arena::line.
void adam_step(const AdamStep& step, int64_t n, const real* g, real* w, real* mean,
               real* mean_square, real* largest);

}  // namespace heed::inline HEED_REAL::kernels
