// plateau: the peak, multiplied by `factor` whenever the evaluation loss has not improved for more
// than `patience` evaluations (PyTorch's ReduceLROnPlateau). A loss that is not a number is no
// improvement.
//
// It is the rule that uses losses, so it defines the state of a Schedule: the peak, which it
// reduces, the smallest loss, and the number of evaluations since.
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::plateau = {
    .name = "plateau",
    .rate = [](const ScheduleOptions&, double peak, int64_t) { return peak; },
    .uses_min_lr = true,
    .uses_loss = true};

void Schedule::observe(double loss) {
  constexpr double least_reduction = 1e-8;  // as in PyTorch
  if (!options_.kind->uses_loss) return;
  if (loss < best_ * (1 - options_.threshold)) {
    best_ = loss;
    bad_evaluations_ = 0;
  } else if (++bad_evaluations_ > options_.patience) {
    bad_evaluations_ = 0;
    const double reduced = std::max(peak_ * options_.factor, options_.min_lr);
    if (peak_ - reduced > least_reduction) peak_ = reduced;
  }
}

std::map<std::string, double> Schedule::state() const {
  if (!options_.kind->uses_loss) return {};
  return {{"best", best_},
          {"bad_evaluations", static_cast<double>(bad_evaluations_)},
          {"level", peak_}};
}

void Schedule::load_state(const std::map<std::string, double>& saved) {
  const auto names = state();
  const bool same_names =
      std::equal(names.begin(), names.end(), saved.begin(), saved.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  check_input(same_names, "schedule state: it was saved by another kind of schedule");
  for (const auto& [name, value] : saved) {
    const bool valid = name == "best" ? std::isfinite(value) : value >= 0 && value < 1e15;
    check_input(valid, "schedule state: {} is {}", name, value);
  }
  if (saved.empty()) return;
  best_ = saved.at("best");
  bad_evaluations_ = static_cast<int64_t>(saved.at("bad_evaluations"));
  peak_ = saved.at("level");
}

}  // namespace heed::inline HEED_REAL
