// Schedules: the learning rate of each step. Steps count from 1, as in Vaswani et al. 2017. "Peak"
// is optim.lr.
//
// The first `warmup_steps` steps increase the rate linearly, peak · step / warmup_steps, to the
// peak at step warmup_steps. The rate after that is defined in optim/schedules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/fields.h"
#include "core/registry.h"

namespace heed::inline HEED_REAL {

class Schedule;
struct ScheduleOptions;

// One file in optim/schedules defines a rule, one line below registers it.
struct ScheduleRule {
  const char* name;
  std::unique_ptr<Schedule> (*make)(const ScheduleOptions& options, double peak);
  bool uses_min_lr = false;
  bool uses_loss = false;  // observe() changes the rate
};

// clang-format off
#define HEED_SCHEDULES(entry) \
  entry(constant) \
  entry(linear) \
  entry(cosine) \
  entry(inverse_sqrt) \
  entry(plateau)
// clang-format on
HEED_REGISTRY(schedules, ScheduleRule, HEED_SCHEDULES)

struct ScheduleOptions {
  const ScheduleRule* kind = &schedules::constant;
  int64_t warmup_steps = 0;
  int64_t steps = 0;
  double min_lr = 0;
  int64_t dim = 0;
  double scale = 1;
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;

  void fields(Fields& f);
};

// Keeps the peak after warm-up, unless a subclass does something else.
class Schedule {
 public:
  // In `options`, steps = 0 is not replaced: see make_schedule().
  Schedule(const ScheduleOptions& options, double peak) : options_(options), peak_(peak) {}
  virtual ~Schedule() = default;
  template <class Derived>
  static std::unique_ptr<Schedule> make(const ScheduleOptions& options, double peak) {
    return std::make_unique<Derived>(options, peak);
  }

  // Returns the rate of step 1, 2, …. It depends only on the step and, if the rule uses the loss,
  // on the observed losses. Throws Error for a step below 1.
  double rate(int64_t step) const;

  // Takes note of an evaluation loss.
  virtual void observe(double) {}

  // What a rule has observed, as finite numbers; empty for a rule without state.
  virtual std::map<std::string, double> state() const { return {}; }
  // Throws InputError, and changes nothing, unless the names are exactly those of state().
  void load_state(const std::map<std::string, double>& saved);

 protected:
  virtual double rate_of(int64_t step) const;
  virtual double after_warmup(int64_t) const { return peak_; }
  virtual void restore(const std::map<std::string, double>&) {}

  // The fraction of the steps from warm-up to options.steps that remains: 1 … 0.
  double remaining(int64_t step) const;

  ScheduleOptions options_;
  double peak_;
};

// Makes the schedule that the options name. `peak` is optim.lr. `train_steps`, the length of the
// run, replaces options.steps = 0. Throws InputError for values out of range and for options that
// contradict each other.
std::unique_ptr<Schedule> make_schedule(ScheduleOptions options, double peak, int64_t train_steps);

}  // namespace heed::inline HEED_REAL
