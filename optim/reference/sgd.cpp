// Stochastic gradient descent with momentum (Sutskever et al. 2013, "On the importance of
// initialization and momentum in deep learning"), in PyTorch's form:
//
//   g ← g + weight_decay · w
//   b ← momentum · b + g
//   w ← w - lr · b                       Nesterov: w ← w - lr · (g + momentum · b)
#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL::kernels {

void sgd_step(const UpdateRange& s) {
  real *const w = s.parameters, *const buffer = s.state[0];
  for (int64_t i = 0; i < s.size; ++i) {
    const double g = s.gradient_scale * s.gradients[i] + s.weight_decay * w[i];
    double direction = g;
    if (buffer) {
      buffer[i] = s.options.momentum * buffer[i] + g;
      direction = s.options.nesterov ? g + s.options.momentum * buffer[i] : double{buffer[i]};
    }
    w[i] = w[i] - s.lr * direction;
  }
}

}  // namespace heed::inline HEED_REAL::kernels
