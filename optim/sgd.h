// Stochastic gradient descent with momentum (Sutskever et al. 2013, "On the importance of
// initialization and momentum in deep learning"), in PyTorch's form:
//
//   g = gradient + weight_decay · w
//   b ← momentum · b + g
//   w ← w − lr · b                      with Nesterov's look-ahead:  w ← w − lr · (g + momentum ·
//   b)
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

namespace kernels {

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

}  // namespace kernels

class Sgd : public Optimizer {
 public:
  Sgd(const OptimOptions& options, std::vector<NamedParameter> parameters);

 private:
  void update(double lr, double scale) override;
  real* momentum_buffer_ = nullptr;  // b; not kept without momentum
};

}  // namespace heed::inline HEED_REAL
