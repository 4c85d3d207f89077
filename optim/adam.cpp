// The rules adam and adamw: the arrays that they keep, and their limits. The formula is in
// optim/reference/adam.cpp; exp_avg and exp_avg_sq are PyTorch's names of m and v.
#include "optim/kernels/kernels.h"

namespace heed::inline HEED_REAL {

static std::vector<const char*> adam_state(const OptimOptions& options) {
  if (options.amsgrad) return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  return {"exp_avg", "exp_avg_sq"};
}

static void check_adam(const OptimOptions& o) {
  check_input(o.momentum == 0 && !o.nesterov,
              "`momentum` and `nesterov` are not used by `kind` = \"{}\", which has `beta1`",
              o.kind->name);
  check_input(o.beta1 < 1 && o.beta2 < 1, "`beta1` = {} and `beta2` = {} must be less than 1",
              o.beta1, o.beta2);
}

const OptimizerRule optimizers::adam = {"adam", adam_state, check_adam, kernels::adam_step};
const OptimizerRule optimizers::adamw = {"adamw", adam_state, check_adam, kernels::adam_step};

}  // namespace heed::inline HEED_REAL
