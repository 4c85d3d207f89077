#include "optim/sgd.h"

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

static std::vector<const char*> sgd_state(const OptimOptions& options) {
  if (options.momentum > 0) return {"momentum_buffer"};
  return {};
}

static void check_sgd(const OptimOptions& options) {
  check_input(!options.amsgrad, "optim.amsgrad is not used by optim.kind = \"sgd\"");
  check_input(!options.nesterov || options.momentum > 0,
              "optim.nesterov needs optim.momentum above 0");
}

static void update_sgd(const UpdateRange& range) {
  kernels::sgd_step({.lr = range.lr,
                     .weight_decay = range.weight_decay,
                     .momentum = range.options.momentum,
                     .nesterov = range.options.nesterov,
                     .gradient_scale = range.gradient_scale},
                    range.size, range.gradients, range.parameters, range.state[0]);
}

const OptimizerRule optimizers::sgd = {"sgd", sgd_state, check_sgd, update_sgd};

}  // namespace heed::inline HEED_REAL
