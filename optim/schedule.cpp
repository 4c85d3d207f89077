// Defines optim/schedule.h.
#include "optim/schedule.h"

#include "core/check.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::constant = {
    .name = "constant", .rate = [](const ScheduleOptions&, double peak, int64_t) { return peak; }};

double linear_warmup(const ScheduleOptions& options, double peak, int64_t step) {
  return peak * static_cast<double>(step) / static_cast<double>(options.warmup_steps);
}

double remaining(const ScheduleOptions& options, int64_t step) {
  if (step >= options.steps) return 0;
  return static_cast<double>(options.steps - step) /
         static_cast<double>(options.steps - options.warmup_steps);
}

Schedule::Schedule(const ScheduleOptions& options, double peak, int64_t train_steps)
    : options_(options), peak_(peak) {
  options.validate(peak);
  if (options_.steps == 0) options_.steps = train_steps;
}

double Schedule::rate(int64_t step) const {
  check(step >= 1, "schedule: steps count from 1, got {}", step);
  const ScheduleRule& rule = *options_.kind;
  return (step < options_.warmup_steps ? rule.warmup : rule.rate)(options_, peak_, step);
}

}  // namespace heed::inline HEED_REAL
