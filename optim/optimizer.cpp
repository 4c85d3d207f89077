#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "optim/adam.h"
#include "optim/sgd.h"

namespace heed::inline HEED_REAL {

void OptimOptions::fields(Fields& f) {
  static constexpr const char* kinds[] = {"sgd", "adam", "adamw"};
  f.choice("kind", kind, kinds, "rule that turns gradients into updates");
  f.number("lr", lr, at_least(0), "learning rate; schedules start from it or lead up to it");
  f.number(
      "weight_decay", weight_decay, at_least(0),
      "pull of matrices towards zero (vectors are spared): adamw shrinks them by lr times this "
      "each step, sgd and adam add this times them to the gradient");
  f.number("clip_norm", clip_norm, at_least(0),
           "largest norm of all gradients together, larger ones are scaled down; 0 for no limit");
  f.number("momentum", momentum, {0, 1}, "sgd: share of the last update that is kept");
  f.flag("nesterov", nesterov, "sgd: look ahead along the momentum");
  f.number("beta1", beta1, {0, 1}, "adam, adamw: decay of the mean of gradients");
  f.number("beta2", beta2, {0, 1}, "adam, adamw: decay of the mean of squared gradients");
  f.number("epsilon", epsilon, at_least(0), "adam, adamw: added to the divisor");
  f.flag("amsgrad", amsgrad, "adam, adamw: divide by the largest second moment seen so far");
}

void OptimOptions::validate() const {
  const bool sgd = kind == Kind::sgd;
  check_input(sgd || (momentum == 0 && !nesterov),
              "optim: momentum and nesterov belong to kind = \"sgd\"; adam and adamw have beta1");
  check_input(!sgd || !amsgrad, "optim: amsgrad belongs to kind = \"adam\" or \"adamw\"");
  check_input(!nesterov || momentum > 0, "optim: nesterov needs a momentum above 0");
  check_input(beta1 < 1 && beta2 < 1, "optim: beta1 {} and beta2 {} must be less than 1", beta1,
              beta2);
  check_input(static_cast<real>(epsilon) > 0, "optim: epsilon {} must be more than 0", epsilon);
}

Optimizer::Optimizer(const OptimOptions& options, std::vector<NamedParameter> parameters)
    : options_(options), arena_(std::move(parameters)) {}

real* Optimizer::add_state(const std::string& name) {
  state_.push_back({name, arena_.similar()});
  return state_.back().numbers->data;
}

double Optimizer::step(double lr, double gradient_scale) {
  check(std::isfinite(lr), "optimizer: the learning rate is {}", lr);
  arena_.complete_gradients();
  const double norm = std::sqrt(arena_.sum_of_squared_gradients()) * std::abs(gradient_scale);
  if (!std::isfinite(norm)) return norm;

  const double limit = options_.clip_norm;
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  ++steps_;
  update(lr, gradient_scale * clip);
  arena_.count_change();
  return norm;
}

std::vector<NamedParameter> Optimizer::state() const {
  std::vector<NamedParameter> all;
  for (const State& state : state_)
    for (NamedParameter& tensor : arena_.tensors(state.name, state.numbers))
      all.push_back(std::move(tensor));
  return all;
}

void Optimizer::load_state(int64_t steps, std::span<const NamedParameter> saved) {
  check_input(steps >= 0, "optimizer state: {} steps", steps);
  std::vector<NamedParameter> own = state();
  std::map<std::string_view, Tensor> given;
  for (const auto& [name, tensor] : saved)
    check_input(given.emplace(name, tensor).second, "optimizer state: {} is there twice", name);
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    check_input(found != given.end(),
                "optimizer state: {} is missing; it was saved by another optimizer or model", name);
    check_input(found->second.shape() == tensor.shape(),
                "optimizer state: {} has shape {}, this model needs {}", name,
                found->second.shape(), tensor.shape());
  }
  for (const auto& [name, tensor] : saved)
    check_input(std::any_of(own.begin(), own.end(), [&](const auto& o) { return o.name == name; }),
                "optimizer state: {} is not part of this optimizer's state", name);
  for (auto& [name, tensor] : own)
    std::copy_n(given[name].data(), tensor.size(), tensor.mutable_data());
  steps_ = steps;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimOptions& options,
                                          std::vector<NamedParameter> parameters) {
  options.validate();
  if (options.kind == OptimOptions::Kind::sgd)
    return std::make_unique<Sgd>(options, std::move(parameters));
  return std::make_unique<Adam>(options, std::move(parameters));
}

}  // namespace heed::inline HEED_REAL
