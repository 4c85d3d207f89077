// The exercise schedule: its solution, its stub, and the mistakes that its grader names.
#include "optim/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_schedule(Grader& g,
                    double (*learning_rate)(int64_t step, double peak, int64_t warmup_steps,
                                            int64_t steps, double min_lr));

namespace {

namespace schedule_stub {
using namespace heed;
#include "course/exercises/schedule/exercise.cpp"
}  // namespace schedule_stub

double schedule_of_library(int64_t step, double peak, int64_t warmup_steps, int64_t steps,
                           double min_lr) {
  ScheduleOptions options;
  options.kind = &schedules::cosine;
  options.warmup_steps = warmup_steps;
  options.steps = steps;
  options.min_lr = min_lr;
  return Schedule(options, peak, steps).rate(step);
}

enum class RateFault {
  none,
  no_warmup,
  peak_first,
  integer_warmup,
  from_0,
  warmup_from_0,
  warmup_from_minimum,
  constant,
  integer_progress,
  cosine_from_0,
  cosine_too_long,
  no_half,
  no_minimum,
  peak_plus_minimum,
  larger,
  straight,
  no_pi,
  rises,
  rises_again,
  ends_at_0,
  divides_by_0
};

// The solution, with a fault.
template <RateFault fault>
double faulty_rate(int64_t step, double peak, int64_t warmup_steps, int64_t steps, double min_lr) {
  using enum RateFault;
  if (fault == from_0) --step;
  const auto t = static_cast<double>(step), w = static_cast<double>(warmup_steps),
             n = static_cast<double>(steps);
  if (fault == divides_by_0 && peak * t / w < peak) return peak * t / w;
  if (fault == divides_by_0 && warmup_steps == 0) return peak * (t - 1 - t) / w;
  if (step < warmup_steps && fault != no_warmup) {
    if (fault == peak_first) return peak;
    if (fault == integer_warmup) return peak * static_cast<double>(step / warmup_steps);
    if (fault == warmup_from_minimum) return min_lr + (peak - min_lr) * t / w;
    return peak * (fault == warmup_from_0 ? t - 1 : t) / w;
  }
  if (fault == ends_at_0 && step > steps) return 0;
  double progress = (t - w) / (n - w);
  if (fault == integer_progress)
    progress = static_cast<double>((step - warmup_steps) / (steps - warmup_steps));
  if (fault == cosine_from_0) progress = t / n;
  if (fault == cosine_too_long) progress = (t - w) / n;
  if (fault != rises_again) progress = std::min(1.0, progress);
  if (fault == rises) progress = 1 - progress;
  const double turn = fault == no_pi ? 1 : std::numbers::pi;
  double fall = (1 + std::cos(turn * progress)) / 2;
  if (fault == constant) fall = 1;
  if (fault == no_half) fall *= 2;
  if (fault == straight) fall = 1 - progress;
  if (fault == no_minimum) return peak * fall;
  if (fault == peak_plus_minimum) return min_lr + peak * fall;
  if (fault == larger) return std::max(min_lr, peak * fall);
  return min_lr + (peak - min_lr) * fall;
}

TEST_CASE("exercise schedule: the solution and the library pass") {
  CHECK(graded(grade_schedule, faulty_rate<RateFault::none>) == "");
  CHECK(graded(grade_schedule, schedule_of_library) == "");
}

TEST_CASE("exercise schedule: the stub and mistakes are named") {
  using enum RateFault;
  CHECK_NAMED("nothing is computed yet", grade_schedule,
              schedule_stub::heed::course::learning_rate);
  CHECK_NAMED("This is the peak in every step", grade_schedule,
              [](int64_t, double peak, int64_t, int64_t, double) { return peak; });
  CHECK_NAMED("The warm-up is missing", grade_schedule, faulty_rate<no_warmup>);
  CHECK_NAMED("The warm-up is missing", grade_schedule, faulty_rate<peak_first>);
  CHECK_NAMED("The rate is 0 during the warm-up", grade_schedule, faulty_rate<integer_warmup>);
  CHECK_NAMED("The warm-up begins with the rate 0", grade_schedule, faulty_rate<warmup_from_0>);
  CHECK_NAMED("the rate of the step before", grade_schedule, faulty_rate<from_0>);
  CHECK_NAMED("The warm-up begins at min_lr", grade_schedule, faulty_rate<warmup_from_minimum>);
  CHECK_NAMED("the rate must fall", grade_schedule, faulty_rate<constant>);
  CHECK_NAMED("The progress is 0 until the end", grade_schedule, faulty_rate<integer_progress>);
  CHECK_NAMED("The cosine begins at step 0", grade_schedule, faulty_rate<cosine_from_0>);
  CHECK_NAMED("The cosine takes `steps` steps", grade_schedule, faulty_rate<cosine_too_long>);
  CHECK_NAMED("The division by 2 is missing", grade_schedule, faulty_rate<no_half>);
  CHECK_NAMED("min_lr is not used", grade_schedule, faulty_rate<no_minimum>);
  CHECK_NAMED("begins at peak + min_lr", grade_schedule, faulty_rate<peak_plus_minimum>);
  CHECK_NAMED("The cosine itself ends at min_lr", grade_schedule, faulty_rate<larger>);
  CHECK_NAMED("in a straight line", grade_schedule, faulty_rate<straight>);
  CHECK_NAMED("The factor π is missing", grade_schedule, faulty_rate<no_pi>);
  CHECK_NAMED("It must fall", grade_schedule, faulty_rate<rises>);
  CHECK_NAMED("the cosine rises again", grade_schedule, faulty_rate<rises_again>);
  CHECK_NAMED("After the last step the rate is 0", grade_schedule, faulty_rate<ends_at_0>);
  CHECK_NAMED("warmup_steps may be 0", grade_schedule, faulty_rate<divides_by_0>);
}

}  // namespace
}  // namespace heed::course
