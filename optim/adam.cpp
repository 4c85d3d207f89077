#include "optim/adam.h"

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

static std::vector<const char*> adam_state(const OptimOptions& options) {
  if (options.amsgrad) return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  return {"exp_avg", "exp_avg_sq"};
}

static void check_adam(const OptimOptions& o) {
  check_input(o.momentum == 0 && !o.nesterov,
              "optim.momentum and optim.nesterov are not used by optim.kind = \"{}\", which has "
              "beta1",
              o.kind->name);
  check_input(o.beta1 < 1 && o.beta2 < 1, "optim: beta1 {} and beta2 {} must be less than 1",
              o.beta1, o.beta2);
  check_input(static_cast<real>(o.epsilon) > 0, "optim: epsilon {} must be more than 0", o.epsilon);
}

static void update_adam(const UpdateRange& range) {
  const OptimOptions& options = range.options;
  kernels::adam_step({.t = range.step,
                      .lr = range.lr,
                      .beta1 = options.beta1,
                      .beta2 = options.beta2,
                      .epsilon = options.epsilon,
                      .weight_decay = range.weight_decay,
                      .decoupled = options.kind == &optimizers::adamw,
                      .gradient_scale = range.gradient_scale},
                     range.size, range.gradients, range.parameters, range.state[0], range.state[1],
                     range.state[2]);
}

const OptimizerRule optimizers::adam = {"adam", adam_state, check_adam, update_adam};
const OptimizerRule optimizers::adamw = {"adamw", adam_state, check_adam, update_adam};

}  // namespace heed::inline HEED_REAL
