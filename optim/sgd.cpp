#include "optim/sgd.h"

namespace heed::inline HEED_REAL {

Sgd::Sgd(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : Optimizer(options, std::move(parameters)) {
  if (options.momentum > 0) momentum_buffer_ = add_state("momentum_buffer");
}

void Sgd::update(double lr, double scale) {
  arena_.for_each_range([&](int64_t first, int64_t last, bool matrix) {
    const kernels::SgdStep step{
        .lr = lr,
        .weight_decay = matrix ? options_.weight_decay : 0,
        .momentum = options_.momentum,
        .nesterov = options_.nesterov,
        .gradient_scale = scale,
    };
    kernels::sgd_step(step, last - first, arena_.gradients() + first, arena_.numbers() + first,
                      momentum_buffer_ ? momentum_buffer_ + first : nullptr);
  });
}

}  // namespace heed::inline HEED_REAL
