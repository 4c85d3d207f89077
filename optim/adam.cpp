#include "optim/adam.h"

namespace heed::inline HEED_REAL {

Adam::Adam(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : Optimizer(options, std::move(parameters)),
      exp_avg_(add_state("exp_avg")),
      exp_avg_sq_(add_state("exp_avg_sq")) {
  if (options.amsgrad) max_exp_avg_sq_ = add_state("max_exp_avg_sq");
}

void Adam::update(double lr, double scale) {
  arena_.for_each_range([&](int64_t first, int64_t last, bool matrix) {
    const kernels::AdamStep step{
        .t = steps(),
        .lr = lr,
        .beta1 = options_.beta1,
        .beta2 = options_.beta2,
        .epsilon = options_.epsilon,
        .weight_decay = matrix ? options_.weight_decay : 0,
        .decoupled = options_.kind == OptimOptions::Kind::adamw,
        .gradient_scale = scale,
    };
    kernels::adam_step(step, last - first, arena_.gradients() + first, arena_.numbers() + first,
                       exp_avg_ + first, exp_avg_sq_ + first,
                       max_exp_avg_sq_ ? max_exp_avg_sq_ + first : nullptr);
  });
}

}  // namespace heed::inline HEED_REAL
