// The learning rate of each step. Steps count from 1, as in Vaswani et al. 2017; "peak" is
// optim.lr.
//
// The first `warmup_steps` steps climb in a straight line, peak · step / warmup_steps, to the peak,
// which step warmup_steps has. From there:
//
//   constant      the peak
//   linear        in a straight line to min_lr, which step `steps` has
//   cosine        min_lr + (peak − min_lr) · (1 + cos(π · progress)) / 2 to min_lr at step `steps`
//                 (Loshchilov and Hutter 2017, eq. 5; nanoGPT's get_lr)
//   inverse_sqrt  peak · √(warmup_steps / step); or, given the model's width as `dim`, eq. 3 of
//                 Vaswani et al.: scale · dim^-0.5 · min(step^-0.5, step · warmup_steps^-1.5)
//   plateau       the peak, multiplied by `factor` whenever the evaluation loss has not improved
//                 for more than `patience` evaluations (PyTorch's ReduceLROnPlateau)
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "core/fields.h"

namespace heed::inline HEED_REAL {

struct ScheduleOptions {
  enum class Kind { constant, linear, cosine, inverse_sqrt, plateau };

  Kind kind = Kind::constant;
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

class Schedule {
 public:
  // `peak` is optim.lr; `train_steps` the length of the run, for which options.steps = 0 stands.
  // Throws InputError on values that contradict each other.
  Schedule(const ScheduleOptions& options, double peak, int64_t train_steps);

  // The rate of step 1, 2, …: a function of the step alone but under plateau, where it also depends
  // on the losses observed. Throws Error for a step before the first.
  double rate(int64_t step) const;

  // An evaluation loss; only plateau minds. A loss that is not a number counts as no improvement.
  void observe(double loss);

  // What plateau has seen, as finite numbers; empty for the others, which have no state.
  std::map<std::string, double> state() const;
  // Throws InputError, and changes nothing, unless exactly the names of state() are given.
  void load_state(const std::map<std::string, double>& saved);

 private:
  double after_warmup(int64_t step) const;

  ScheduleOptions options_;
  double peak_;
  // Of plateau:
  double level_;  // the rate after warm-up
  double best_ = std::numeric_limits<double>::max();
  int64_t bad_evaluations_ = 0;  // since the best
};

}  // namespace heed::inline HEED_REAL
