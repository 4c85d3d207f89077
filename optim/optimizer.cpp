#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

namespace heed::inline HEED_REAL {

void OptimOptions::fields(Fields& f) {
  static constexpr Named<Decay> decays[] = {{"matrices", Decay::matrices}, {"all", Decay::all}};
  f.choice("kind", kind, optimizers::all, "rule that turns gradients into updates");
  f.number("lr", lr, lr_range, "learning rate: the peak of the schedule");
  f.number(
      "weight_decay", weight_decay, at_least(0),
      "pull of parameters towards zero: adamw shrinks them by lr times this each step, sgd and "
      "adam add this times them to the gradient");
  f.choice("decay", decay, decays,
           "parameters with weight decay: matrices and embeddings, or all parameters");
  f.number("clip_norm", clip_norm, at_least(0),
           "maximum norm of all gradients; larger gradients are scaled down; 0: no limit");
  f.number("momentum", momentum, {0, 1}, "sgd: fraction of the last update that is kept");
  f.flag("nesterov", nesterov, "sgd: look ahead along the momentum");
  f.number("beta1", beta1, {0, 1}, "adam, adamw: decay of the mean of gradients");
  f.number("beta2", beta2, {0, 1}, "adam, adamw: decay of the mean of squared gradients");
  f.number("epsilon", epsilon, at_least(0), "adam, adamw: added to the divisor");
  f.flag("amsgrad", amsgrad, "adam, adamw: divide by the maximum second moment so far");
  f.number("ema", ema, ema_range,
           "decay of an exponential moving average of the weights, which is evaluated and saved in "
           "their place; 0: no average");
}

void OptimOptions::validate() const {
  check_fields(*this, "optimizer");
  kind->check(*this);
}

static const OptimOptions& validated(const OptimOptions& options) {
  options.validate();
  return options;
}

Optimizer::Optimizer(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : options_(validated(options)), parameters_(parameter_set(std::move(parameters))) {
  parameters_->add_state(options.kind->state(options));
  set_lr(options.lr);
}

Optimizer::Optimizer(const OptimOptions& options, std::unique_ptr<ParameterSet> parameters)
    : options_(validated(options)), parameters_(std::move(parameters)) {
  parameters_->add_state(options.kind->state(options));
  set_lr(options.lr);
}

void Optimizer::set_lr(double lr) {
  check_range("optimizer", "lr", lr, lr_range);
  lr_ = lr;
}

double Optimizer::step(double gradient_scale) {
  const double norm = std::sqrt(parameters_->sum_of_squared_gradients()) * std::abs(gradient_scale);
  if (!std::isfinite(norm)) return norm;

  const double limit = options_.clip_norm;
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  ++steps_;
  const auto update = [&](const ParameterRange& range) {
    const bool decays = range.matrix || options_.decay == Decay::all;
    options_.kind->update({.options = options_,
                           .step = steps_,
                           .lr = lr_,
                           .gradient_scale = gradient_scale * clip,
                           .weight_decay = decays ? options_.weight_decay : 0,
                           .size = range.size,
                           .gradients = range.gradients,
                           .parameters = range.parameters,
                           .state = range.state});
  };
  parameters_->update(std::ref(update));  // by reference: a copy would be allocated
  return norm;
}

}  // namespace heed::inline HEED_REAL
