// The library and a division by 0, for the grader of the exercise schedule.
#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

double rate_of_library(int64_t step, double peak, int64_t warmup_steps, int64_t steps,
                       double min_lr) {
  ScheduleOptions options;
  options.kind = &schedules::cosine;
  options.warmup_steps = warmup_steps;
  options.steps = steps;
  options.min_lr = min_lr;
  return Schedule(options, peak, steps).rate(step);
}

}  // namespace

TEST_CASE("exercise schedule: the library passes, and a division by warmup_steps = 0 is named") {
  CHECK(course::verdict("schedule", rate_of_library) == "");
  CHECK_SAYS("warmup_steps may be 0", "schedule",
             [](int64_t step, double peak, int64_t warmup_steps, int64_t steps, double min_lr) {
               return warmup_steps == 0 ? std::numeric_limits<double>::quiet_NaN()
                                        : rate_of_library(step, peak, warmup_steps, steps, min_lr);
             });
}
