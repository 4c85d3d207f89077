// cosine: min_lr + (peak − min_lr) · (1 + cos(π · progress)) / 2, from the peak to min_lr at step
// `steps` (Loshchilov and Hutter 2017, "SGDR", eq. 5; nanoGPT's get_lr).
#include <cmath>
#include <numbers>

#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

class CosineSchedule : public Schedule {
  using Schedule::Schedule;
  double after_warmup(int64_t step) const override {
    const double progress = 1 - remaining(step);
    return options_.min_lr +
           (peak_ - options_.min_lr) * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
};

const ScheduleRule schedules::cosine = {
    .name = "cosine", .make = Schedule::make<CosineSchedule>, .uses_min_lr = true};

}  // namespace heed::inline HEED_REAL
