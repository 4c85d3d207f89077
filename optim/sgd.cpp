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
  check_keys(!options.amsgrad, {"optim.amsgrad", "optim.kind"},
             "optim.amsgrad is not used by optim.kind = \"sgd\"");
  check_keys(!options.nesterov || options.momentum > 0, {"optim.nesterov", "optim.momentum"},
             "optim.nesterov needs optim.momentum above 0");
}

const OptimizerRule optimizers::sgd = {"sgd", sgd_state, check_sgd, kernels::sgd_step};

}  // namespace heed::inline HEED_REAL
