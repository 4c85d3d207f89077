#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::inline HEED_REAL {

using Kind = ScheduleOptions::Kind;

// PyTorch's ReduceLROnPlateau leaves the rate alone for less than this.
static constexpr double least_reduction = 1e-8;

void ScheduleOptions::fields(Fields& f) {
  static constexpr const char* kinds[] = {"constant", "linear", "cosine", "inverse_sqrt",
                                          "plateau"};
  f.choice("kind", kind, kinds, "how the learning rate goes on after the warm-up");
  f.integer("warmup_steps", warmup_steps, at_least(0), "steps over which it climbs to optim.lr");
  f.integer("steps", steps, at_least(0),
            "linear, cosine: the step that reaches min_lr; 0 for train.steps");
  f.number("min_lr", min_lr, at_least(0), "linear, cosine, plateau: the lowest learning rate");
  f.integer("dim", dim, at_least(0),
            "inverse_sqrt: model width for the formula of Vaswani et al. in place of optim.lr; "
            "0 to start from optim.lr");
  f.number("scale", scale, at_least(0), "inverse_sqrt with dim: multiplies that formula");
  f.number("factor", factor, {0, 1}, "plateau: multiplies the learning rate when it is reduced");
  f.integer("patience", patience, at_least(0),
            "plateau: evaluations without improvement that are borne");
  f.number("threshold", threshold, {0, 1},
           "plateau: share of the best loss by which a new one must be lower");
}

Schedule::Schedule(const ScheduleOptions& options, double peak, int64_t train_steps)
    : options_(options), peak_(peak), level_(peak) {
  if (options_.steps == 0) options_.steps = train_steps;
  const bool ends = options_.kind == Kind::linear || options_.kind == Kind::cosine ||
                    options_.kind == Kind::plateau;
  check_input(!ends || options_.min_lr <= peak, "schedule: min_lr {} is above optim.lr {}",
              options_.min_lr, peak);
}

double Schedule::rate(int64_t step) const {
  check(step >= 1, "schedule: steps count from 1, got {}", step);
  if (options_.kind == Kind::inverse_sqrt && options_.dim > 0) {
    const auto s = static_cast<double>(step);
    const auto warmup = static_cast<double>(std::max<int64_t>(1, options_.warmup_steps));
    return options_.scale / std::sqrt(static_cast<double>(options_.dim)) *
           std::min(1 / std::sqrt(s), s / (warmup * std::sqrt(warmup)));
  }
  if (step >= options_.warmup_steps) return after_warmup(step);
  return level_ * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
}

double Schedule::after_warmup(int64_t step) const {
  const auto warmup = static_cast<double>(options_.warmup_steps);
  const auto total = static_cast<double>(options_.steps);
  const auto s = static_cast<double>(step);
  const double left = s < total ? (total - s) / (total - warmup) : 0;  // of the way down, 1 … 0
  const double height = peak_ - options_.min_lr;
  switch (options_.kind) {
    case Kind::linear:
      return options_.min_lr + height * left;
    case Kind::cosine:
      return options_.min_lr + height * (1 + std::cos(std::numbers::pi * (1 - left))) / 2;
    case Kind::inverse_sqrt:
      return peak_ * std::sqrt(std::max(1.0, warmup) / s);
    case Kind::constant:
    case Kind::plateau:
      break;
  }
  return level_;
}

void Schedule::observe(double loss) {
  if (options_.kind != Kind::plateau) return;
  if (loss < best_ * (1 - options_.threshold)) {
    best_ = loss;
    bad_evaluations_ = 0;
  } else if (++bad_evaluations_ > options_.patience) {
    bad_evaluations_ = 0;
    const double reduced = std::max(level_ * options_.factor, options_.min_lr);
    if (level_ - reduced > least_reduction) level_ = reduced;
  }
}

std::map<std::string, double> Schedule::state() const {
  if (options_.kind != Kind::plateau) return {};
  return {{"best", best_},
          {"bad_evaluations", static_cast<double>(bad_evaluations_)},
          {"level", level_}};
}

void Schedule::load_state(const std::map<std::string, double>& saved) {
  const auto own = state();
  const bool same_names =
      std::equal(own.begin(), own.end(), saved.begin(), saved.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  check_input(same_names, "schedule state: it was saved by another kind of schedule");
  if (own.empty()) return;
  for (const auto& [name, value] : saved) {
    const bool possible = name == "best" ? std::isfinite(value) : value >= 0 && value < 1e15;
    check_input(possible, "schedule state: {} is {}", name, value);
  }
  best_ = saved.at("best");
  bad_evaluations_ = static_cast<int64_t>(saved.at("bad_evaluations"));
  level_ = saved.at("level");
}

}  // namespace heed::inline HEED_REAL
