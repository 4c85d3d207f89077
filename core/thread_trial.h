// Whether the steps of a training are computed faster by one thread than by all.
//
// A small model has many short loops, and what a second thread saves in one can be less than it
// costs to start it, which differs tenfold between machines. No result depends on the number of
// threads, so it is tried: all and one take turns, in phases of a few steps, and the one with the
// greater rate computes the steps until the next trial. The time between trials is 20 times that of
// a trial, and doubles as long as the outcome stays the same. Steps that take longer than 20 ms
// always have all threads.
#pragma once

#include <algorithm>
#include <array>

#include "core/real.h"

namespace heed::inline HEED_REAL {

class ThreadTrial {
 public:
  static constexpr double phase_seconds = 0.005, longest_step = 0.02, longest_pause = 30;
  static constexpr int phase_steps = 4, phases = 6;

  // For the next step, if `most` are allowed.
  int threads(int most) const { return one_ ? 1 : most; }

  // After a step that took so long for this much work, in any unit.
  void step_done(double seconds, double work) {
    seconds_ += seconds;
    work_ += work;
    steps_ += 1;
    if (phase_ < 0) {  // no trial
      if (seconds_ >= pause_) begin_phase(0);
      return;
    }
    if (seconds_ < phase_seconds || steps_ < phase_steps) return;
    if (!one_ && seconds_ > longest_step * steps_) return end_trial(false);
    best_rate_[one_] = std::max(best_rate_[one_], work_ / seconds_);
    trial_seconds_ += seconds_;
    if (phase_ + 1 == phases) return end_trial(best_rate_[1] > best_rate_[0]);
    begin_phase(phase_ + 1);
  }

 private:
  void begin_phase(int phase) {
    if (phase == 0) {
      best_rate_ = {};
      trial_seconds_ = 0;
    }
    phase_ = phase;
    one_ = phase % 2 == 1;
    seconds_ = work_ = 0;
    steps_ = 0;
  }
  void end_trial(bool one) {
    pause_ = one == outcome_ && pause_ > 0 ? std::min(2 * pause_, longest_pause)
                                           : std::max(20 * trial_seconds_, 20 * phase_seconds);
    outcome_ = one_ = one;
    phase_ = -1;
    seconds_ = 0;
  }

  int phase_ = 0;  // of the trial; -1 between trials
  bool one_ = false, outcome_ = false;
  double seconds_ = 0, work_ = 0, trial_seconds_ = 0, pause_ = 0;
  int steps_ = 0;
  std::array<double, 2> best_rate_ = {};  // of all threads, and of one
};

}  // namespace heed::inline HEED_REAL
