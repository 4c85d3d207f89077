// Defines the members fields() and validate() of the options of optimizers and schedules.
#include "core/fields.h"
#include "optim/average.h"
#include "optim/rules.h"

namespace heed::inline HEED_REAL {

void OptimOptions::fields(Fields& f) {
  static constexpr Named<Decay> decays[] = {{"matrices", Decay::matrices}, {"all", Decay::all}};
  f.choice("kind", kind, optimizers::all, "rule that turns gradients into updates");
  const bool is_sgd = kind == &optimizers::sgd;
  const bool is_adam = kind == &optimizers::adam || kind == &optimizers::adamw;
  f.number("lr", lr, at_least(0), "learning rate: the peak of the schedule");
  f.number(
      "weight_decay", weight_decay, at_least(0),
      "pull of parameters towards zero: adamw shrinks them by lr times this each step, sgd and "
      "adam add this times them to the gradient");
  f.choice("decay", decay, decays,
           "parameters with weight decay: matrices and embeddings, or all parameters")
      .when(weight_decay != 0);
  f.number("clip_norm", clip_norm, at_least(0),
           "maximum norm of all gradients; larger gradients are scaled down; 0: no limit");
  f.number("momentum", momentum, {0, 1}, "sgd: fraction of the last update that is kept")
      .when(!is_adam);
  f.flag("nesterov", nesterov, "sgd: look ahead along the momentum").when(!is_adam);
  f.number("beta1", beta1, {0, 1}, "adam, adamw: decay of the mean of gradients").when(!is_sgd);
  f.number("beta2", beta2, {0, 1}, "adam, adamw: decay of the mean of squared gradients")
      .when(!is_sgd);
  f.number("epsilon", epsilon, at_least(0),
           "adam, adamw: added to the divisor; with 0 a weight whose gradient was always zero "
           "becomes NaN, as in PyTorch")
      .when(!is_sgd);
  f.flag("amsgrad", amsgrad, "adam, adamw: divide by the maximum second moment so far")
      .when(!is_sgd);
  f.number("ema", ema, ema_range,
           "decay of an exponential moving average of the weights, which is evaluated and saved in "
           "their place; 0: no average");
}

void OptimOptions::validate() const {
  check_fields(*this, "optimizer");
  kind->check(*this);
}

void ScheduleOptions::fields(Fields& f) {
  f.choice("kind", kind, schedules::all, "the learning rate after warm-up");
  const bool is_inverse_sqrt = kind == &schedules::inverse_sqrt;
  const bool is_plateau = kind == &schedules::plateau;
  f.integer("warmup_steps", warmup_steps, at_least(0),
            "steps over which the rate increases to its peak, the optimizer's lr");
  f.integer("steps", steps, at_least(0),
            "linear, cosine: the step that reaches min_lr; 0: the last step of training")
      .when(kind != &schedules::constant && !is_inverse_sqrt && !is_plateau);
  f.number("min_lr", min_lr, at_least(0), "linear, cosine, plateau: the minimum learning rate")
      .when(kind->uses_min_lr);
  f.integer("dim", dim, at_least(0),
            "inverse_sqrt: model width for the formula of Vaswani et al., which replaces the peak; "
            "0: start from the peak")
      .when(is_inverse_sqrt);
  f.number("scale", scale, at_least(0), "inverse_sqrt with dim: multiplies that formula")
      .when(replaces_peak());
  f.number("factor", factor, {0, 1}, "plateau: multiplies the learning rate at each reduction")
      .when(is_plateau);
  f.integer("patience", patience, at_least(0),
            "plateau: evaluations without improvement before a reduction")
      .when(is_plateau);
  f.number("threshold", threshold, {0, 1},
           "plateau: an improvement lowers the best loss by at least this fraction")
      .when(is_plateau);
}

void ScheduleOptions::validate(double peak) const {
  check_fields(*this, "schedule");
  check_range("schedule", "peak", peak, at_least(0));
  check_input(!kind->uses_min_lr || min_lr <= peak, "`min_lr` = {} is above `peak` = {}", min_lr,
              peak);
}

}  // namespace heed::inline HEED_REAL
