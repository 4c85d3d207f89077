// Stochastic gradient descent with momentum (Sutskever et al. 2013, "On the importance of
// initialization and momentum in deep learning"), in PyTorch's form:
//
//   g ← g + weight_decay · w
//   b ← momentum · b + g
//   w ← w − lr · b                       Nesterov: w ← w − lr · (g + momentum · b)
#include "optim/sgd.h"

namespace heed::inline HEED_REAL::kernels {

void sgd_step(const SgdStep& s, int64_t n, const real* gradient, real* w, real* buffer) {
  for (int64_t i = 0; i < n; ++i) {
    const double g = s.gradient_scale * gradient[i] + s.weight_decay * w[i];
    double direction = g;
    if (buffer) {
      buffer[i] = s.momentum * buffer[i] + g;
      direction = s.nesterov ? g + s.momentum * buffer[i] : double{buffer[i]};
    }
    w[i] = w[i] - s.lr * direction;
  }
}

}  // namespace heed::inline HEED_REAL::kernels
