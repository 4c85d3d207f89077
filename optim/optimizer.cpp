// Defines optim/optimizer.h.
#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

namespace heed::inline HEED_REAL {

Optimizer::Optimizer(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : options_(options), parameters_(std::move(parameters)), lr_(options.lr) {
  options.validate();
  std::erase_if(parameters_, [](const auto& p) { return !p.tensor.requires_grad(); });
  check_input(!parameters_.empty(),
              "optimizer: nothing to train: there is no parameter, or every one is frozen");
  lay_out(options.kind->state(options));
}

void Optimizer::zero_grad() {
  for (NamedParameter& p : parameters_) p.tensor.clear_grad();
}

void Optimizer::set_lr(double lr) {
  check_input(lr >= 0 && std::isfinite(lr), "optimizer: lr: expected a number, ≥ 0, found {}", lr);
  lr_ = lr;
}

double Optimizer::step(double gradient_scale) {
  const double norm = std::sqrt(sum_of_squared_gradients()) * std::abs(gradient_scale);
  if (!std::isfinite(norm)) return norm;

  const double limit = options_.clip_norm;
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  ++steps_;
  const auto update_range = [&](const ParameterRange& range) {
    const bool decays = range.matrix || options_.decay == Decay::all;
    options_.kind->update(
        {range, options_, steps_, lr_, gradient_scale * clip, decays ? options_.weight_decay : 0});
  };
  update(std::ref(update_range));  // by reference: a copy would be allocated
  return norm;
}

}  // namespace heed::inline HEED_REAL
