// The learning rate: up in a line, down in half a cosine. Steps count from 1, as in Vaswani et al.
// 2017. "Peak" is optim.lr.
//
// The first `warmup_steps` steps increase the rate linearly, peak · step / warmup_steps, to the
// peak at step warmup_steps. The rate after that is defined in optim/schedules.
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

struct ScheduleOptions;

// Returns the learning rate of a step.
using RateFunction = double (*)(const ScheduleOptions& options, double peak, int64_t step);
// Returns peak · step / warmup_steps.
double linear_warmup(const ScheduleOptions& options, double peak, int64_t step);

// One file in optim/schedules defines a rule, one line of optim/rules.h registers it.
struct ScheduleRule {
  const char* name;                     // the word in a config
  RateFunction rate;                    // from step warmup_steps on
  RateFunction warmup = linear_warmup;  // before that
  bool uses_min_lr = false;             // options.min_lr applies
  bool uses_loss = false;               // a Plateau lowers the peak
};

namespace schedules {
extern const ScheduleRule constant, linear, cosine, inverse_sqrt, plateau;  // after warm-up
}

// The section [schedule].
struct ScheduleOptions {
  const ScheduleRule* kind = &schedules::constant;
  int64_t warmup_steps = 0;  // number of first steps, which increase the rate
  int64_t steps = 0;         // linear, cosine: the step that reaches min_lr; 0: the run's last
  double min_lr = 0;         // linear, cosine, plateau: the smallest rate
  int64_t dim = 0;           // inverse_sqrt: width of the model; 0: start from the peak
  double scale = 1;          // inverse_sqrt with dim: multiplies the rate
  double factor = 0.1;       // plateau: multiplies the rate at each reduction
  int64_t patience = 10;     // plateau: evaluations without improvement before a reduction
  double threshold = 1e-4;   // plateau: the least fraction by which a loss improves

  void fields(Fields& f);  // visits each, for a config
  // Returns whether the rate is that of a formula, whatever the peak is.
  bool replaces_peak() const { return kind == &schedules::inverse_sqrt && dim > 0; }
  // Throws InputError for values out of range, also of `peak`, and for a min_lr above it.
  void validate(double peak) const;
};

// Returns the fraction of the steps from warm-up to options.steps that remains: 1 … 0.
double remaining(const ScheduleOptions& options, int64_t step);

class Schedule {
 public:
  // `peak` is optim.lr. `train_steps`, the length of the run, replaces options.steps = 0. Throws
  // InputError as ScheduleOptions::validate() does.
  Schedule(const ScheduleOptions& options, double peak, int64_t train_steps);

  // Returns the rate of step 1, 2, …. It depends only on the step and the peak. Throws Error for a
  // step below 1.
  double rate(int64_t step) const;

  const ScheduleOptions& options() const { return options_; }  // steps: of the schedule
  double peak() const { return peak_; }                        // the largest rate
  void set_peak(double peak) { peak_ = peak; }                 // as Plateau does

 private:
  ScheduleOptions options_;
  double peak_;
};

}  // namespace heed::inline HEED_REAL
