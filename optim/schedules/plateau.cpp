// plateau: the peak, multiplied by `factor` whenever the evaluation loss has not improved for more
// than `patience` evaluations (PyTorch's ReduceLROnPlateau). A loss that is not a number is no
// improvement.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "optim/schedule_state.h"

namespace heed::inline HEED_REAL {

class PlateauSchedule : public LossSchedule {
 public:
  using LossSchedule::LossSchedule;

  void note(double loss) override {
    if (loss < best_ * (1 - options_.threshold)) {
      best_ = loss;
      bad_evaluations_ = 0;
    } else if (++bad_evaluations_ > options_.patience) {
      bad_evaluations_ = 0;
      const double reduced = std::max(peak_ * options_.factor, options_.min_lr);
      if (peak_ - reduced > least_reduction) peak_ = reduced;
    }
  }

  std::map<std::string, double> noted() const override {
    return {{"best", best_},
            {"bad_evaluations", static_cast<double>(bad_evaluations_)},
            {"level", peak_}};
  }

 private:
  static constexpr double least_reduction = 1e-8;  // as in PyTorch

  void restore(const std::map<std::string, double>& saved) override {
    for (const auto& [name, value] : saved) {
      const bool valid = name == "best" ? std::isfinite(value) : value >= 0 && value < 1e15;
      check_input(valid, "schedule state: {} is {}", name, value);
    }
    best_ = saved.at("best");
    bad_evaluations_ = static_cast<int64_t>(saved.at("bad_evaluations"));
    peak_ = saved.at("level");
  }

  double best_ = std::numeric_limits<double>::max();
  int64_t bad_evaluations_ = 0;  // since the best
};

const ScheduleRule schedules::plateau = {.name = "plateau",
                                         .make = Schedule::make<PlateauSchedule>,
                                         .uses_min_lr = true,
                                         .uses_loss = true};

}  // namespace heed::inline HEED_REAL
