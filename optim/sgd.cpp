// Stochastic gradient descent with momentum (Sutskever et al. 2013, "On the importance of
// initialization and momentum in deep learning"), in PyTorch's form:
//
// clang-format off
//   g = gradient + weight_decay · w
//   b ← momentum · b + g
//   w ← w - lr · b                         or, with Nesterov momentum:
//   w ← w - lr · (g + momentum · b)
// clang-format on
#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL {

static std::vector<const char*> sgd_state(const OptimOptions& options) {
  if (options.momentum > 0) return {"momentum_buffer"};
  return {};
}

static void check_sgd(const OptimOptions& options) {
  check_input(!options.amsgrad, "`amsgrad` is not used by `kind` = \"sgd\"");
  check_input(!options.nesterov || options.momentum > 0, "`nesterov` needs `momentum` above 0");
}

const OptimizerRule optimizers::sgd = {"sgd", sgd_state, check_sgd, kernels::sgd_step};

}  // namespace heed::inline HEED_REAL
