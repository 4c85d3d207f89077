#include "optim/schedule.h"

#include <algorithm>

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

const ScheduleRule schedules::constant = {.name = "constant", .make = Schedule::make<Schedule>};

void ScheduleOptions::fields(Fields& f) {
  f.choice("kind", kind, schedules::all, "the learning rate after warm-up");
  f.integer("warmup_steps", warmup_steps, at_least(0),
            "steps over which the rate increases to optim.lr");
  f.integer("steps", steps, at_least(0),
            "linear, cosine: the step that reaches min_lr; 0: train.steps");
  f.number("min_lr", min_lr, at_least(0), "linear, cosine, plateau: the minimum learning rate");
  f.integer("dim", dim, at_least(0),
            "inverse_sqrt: model width for the formula of Vaswani et al., which replaces optim.lr; "
            "0: start from optim.lr");
  f.number("scale", scale, at_least(0), "inverse_sqrt with dim: multiplies that formula");
  f.number("factor", factor, {0, 1}, "plateau: multiplies the learning rate at each reduction");
  f.integer("patience", patience, at_least(0),
            "plateau: evaluations without improvement before a reduction");
  f.number("threshold", threshold, {0, 1},
           "plateau: an improvement lowers the best loss by at least this fraction");
}

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

void Schedule::load_state(const std::map<std::string, double>& saved) {
  const auto own = state();
  const bool same_names =
      std::equal(own.begin(), own.end(), saved.begin(), saved.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  check_input(same_names, "schedule state: it was saved by another kind of schedule");
  restore(saved);
}

std::unique_ptr<Schedule> make_schedule(ScheduleOptions options, double peak, int64_t train_steps) {
  check_fields(options, "schedule");
  check_range("schedule", "peak", peak, lr_range);
  if (options.steps == 0) options.steps = train_steps;
  check_keys(!options.kind->uses_min_lr || options.min_lr <= peak, {"schedule.min_lr", "optim.lr"},
             "schedule.min_lr = {} is above optim.lr = {}", options.min_lr, peak);
  return options.kind->make(options, peak);
}

}  // namespace heed::inline HEED_REAL
