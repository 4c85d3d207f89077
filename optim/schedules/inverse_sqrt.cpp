// inverse_sqrt: peak · √(warmup_steps / step), as in fairseq. With `dim`, the width of the model,
// eq. 3 of Vaswani et al. 2017 replaces peak and warm-up:
//
//   scale · dim^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)
#include <algorithm>
#include <cmath>

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

class InverseSqrtSchedule : public Schedule {
  using Schedule::Schedule;

  double rate_of(int64_t step) const override {
    if (options_.dim == 0) return Schedule::rate_of(step);
    const auto s = static_cast<double>(step);
    return options_.scale / std::sqrt(static_cast<double>(options_.dim)) *
           std::min(1 / std::sqrt(s), s / (warmup() * std::sqrt(warmup())));
  }

  double after_warmup(int64_t step) const override {
    return peak_ * std::sqrt(warmup() / static_cast<double>(step));
  }

  double warmup() const { return static_cast<double>(std::max<int64_t>(1, options_.warmup_steps)); }
};

const ScheduleRule schedules::inverse_sqrt = {.name = "inverse_sqrt",
                                              .make = Schedule::make<InverseSqrtSchedule>};

}  // namespace heed::inline HEED_REAL
