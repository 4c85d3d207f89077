// plateau: the peak, which a Plateau lowers.
#include "optim/plateau.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::plateau = {
    .name = "plateau",
    .rate = [](const ScheduleOptions&, double peak, int64_t) { return peak; },
    .uses_min_lr = true,
    .uses_loss = true};

void Plateau::observe(double loss) {
  constexpr double least_reduction = 1e-8;  // as in PyTorch
  const ScheduleOptions& options = schedule_.options();
  if (loss < best_ * (1 - options.threshold)) {
    best_ = loss;
    bad_evaluations_ = 0;
  } else if (++bad_evaluations_ > options.patience) {
    bad_evaluations_ = 0;
    const double peak = schedule_.peak(), reduced = std::max(peak * options.factor, options.min_lr);
    if (peak - reduced > least_reduction) schedule_.set_peak(reduced);
  }
}

std::map<std::string, double> Plateau::state() const {
  return {{"best", best_},
          {"bad_evaluations", static_cast<double>(bad_evaluations_)},
          {"level", schedule_.peak()}};
}

void Plateau::load_state(const std::map<std::string, double>& saved) {
  const auto names = state();
  const bool same_names =
      std::equal(names.begin(), names.end(), saved.begin(), saved.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  check_input(same_names, "schedule state: it was saved by another kind of schedule");
  for (const auto& [name, value] : saved) {
    const bool valid = name == "best" ? std::isfinite(value) : value >= 0 && value < 1e15;
    check_input(valid, "schedule state: {} is {}", name, value);
  }
  best_ = saved.at("best");
  bad_evaluations_ = static_cast<int64_t>(saved.at("bad_evaluations"));
  schedule_.set_peak(saved.at("level"));
}

}  // namespace heed::inline HEED_REAL
