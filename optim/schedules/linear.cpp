// linear: in a straight line from the peak to min_lr at step `steps`.
#include "optim/schedule.h"

namespace heed::inline HEED_REAL {

class LinearSchedule : public Schedule {
  using Schedule::Schedule;
  double after_warmup(int64_t step) const override {
    return options_.min_lr + (peak_ - options_.min_lr) * remaining(step);
  }
};

const ScheduleRule schedules::linear = {
    .name = "linear", .make = Schedule::make<LinearSchedule>, .uses_min_lr = true};

}  // namespace heed::inline HEED_REAL
