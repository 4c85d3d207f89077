// Defines optim/schedule.h.
#include "optim/schedule.h"

#include "core/check.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::constant = {.name = "constant", .make = Schedule::make<Schedule>};

double Schedule::rate(int64_t step) const {
  check(step >= 1, "schedule: steps count from 1, got {}", step);
  return rate_of(step);
}

double Schedule::rate_of(int64_t step) const {
  if (step >= options_.warmup_steps) return after_warmup(step);
  return peak_ * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
}

double Schedule::remaining(int64_t step) const {
  if (step >= options_.steps) return 0;
  return static_cast<double>(options_.steps - step) /
         static_cast<double>(options_.steps - options_.warmup_steps);
}

std::unique_ptr<Schedule> make_schedule(ScheduleOptions options, double peak, int64_t train_steps) {
  options.validate(peak);
  if (options.steps == 0) options.steps = train_steps;
  return options.kind->make(options, peak);
}

}  // namespace heed::inline HEED_REAL
