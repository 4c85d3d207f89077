// Stochastic gradient descent with momentum (Sutskever et al. 2013, "On the importance of
// initialization and momentum in deep learning"), in PyTorch's form:
//
// clang-format off
//   g = gradient + weight_decay · w
//   b ← momentum · b + g
//   w ← w − lr · b                         or, with Nesterov momentum:
//   w ← w − lr · (g + momentum · b)
// clang-format on
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// What one step of SGD depends on, besides the parameters.
struct SgdStep {
  double lr;
  double weight_decay;  // 0 for none
  double momentum;      // 0 for none
  bool nesterov;
  double gradient_scale;  // multiplies every gradient
};

// Updates n parameters w with gradients g, both (n), in place. `buffer` (n) is b, or null without
// momentum.
void sgd_step(const SgdStep& step, int64_t n, const real* g, real* w, real* buffer);

}  // namespace heed::inline HEED_REAL::kernels
