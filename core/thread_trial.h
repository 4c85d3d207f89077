// Decides whether training steps use all threads or only one.
//
// A small model runs many short parallel loops, and waking a second thread can cost more than it
// saves. Where the balance lies differs tenfold between machines. No result depends on the number
// of threads, so ThreadTrial measures: it alternates between all threads and one, three steps at a
// time, and then keeps the faster setting until the next trial. A decision takes at most 20 steps,
// and fewer where all threads are clearly faster: one thread then computes only 3 or 6 of them.
// Steps longer than 20 ms always use all threads.
//
// The time between trials is at least 20 times that of a trial. It doubles while the outcome stays
// the same, up to 30 s.
#pragma once

#include <algorithm>
#include <array>

#include "core/real.h"

namespace heed::inline HEED_REAL {

class ThreadTrial {
 public:
  static constexpr double longest_step = 0.02, shortest_pause = 0.1, longest_pause = 30;  // seconds
  // The steps before the first trial, which allocate memory, and those of a turn of one setting. A
  // round is a turn of all threads and a turn of one.
  static constexpr int first_steps = 2, turn_steps = 3;
  // A trial ends after a round in which all threads are so many times as fast as one, or after the
  // last round.
  static constexpr std::array<double, 3> clearly_faster = {1.5, 1.2, 1};

  // Returns the number of threads to use for the next step, at most `most`.
  int threads(int most) const { return one_ ? 1 : most; }

  // Records a finished step: its duration, and its amount of work in any fixed unit.
  void step_done(double seconds, double work) {
    seconds_ += seconds;
    ++steps_;
    if (!in_trial_) {
      if (seconds_ >= pause_ && steps_ >= first_steps) begin_trial();
      return;
    }
    // The first step of a turn does not count: other threads sleep, and caches hold other data.
    const int step = (steps_ - 1) % turn_steps;
    Measured& measured = measured_[one_];
    if (step > 0) measured.add(seconds, work);
    if (step < turn_steps - 1) return;
    if (one_)
      end_round();
    else if (measured.is_long())
      end_trial(false);
    else
      one_ = true;
  }

 private:
  // The steps of one setting that count.
  struct Measured {
    double seconds = 0, work = 0;
    double slowest_seconds = 0, slowest_work = 0;  // of the step with the lowest rate
    int steps = 0;

    void add(double step_seconds, double step_work) {
      seconds += step_seconds;
      work += step_work;
      if (steps++ > 0 && step_work * slowest_seconds >= slowest_work * step_seconds) return;
      slowest_seconds = step_seconds;
      slowest_work = step_work;
    }
    // Without the slowest step, which something else may have delayed.
    double rate() const { return (work - slowest_work) / (seconds - slowest_seconds); }
    bool is_long() const { return seconds - slowest_seconds > longest_step * (steps - 1); }
  };

  void begin_trial() {
    in_trial_ = true;
    one_ = false;
    measured_ = {};
    seconds_ = 0;
    steps_ = 0;
  }
  void end_round() {
    const size_t round = static_cast<size_t>(steps_) / (2 * turn_steps);
    const bool all_faster =
        !(measured_[0].rate() < clearly_faster[round - 1] * measured_[1].rate());
    one_ = false;
    if (all_faster || round == clearly_faster.size()) end_trial(!all_faster);
  }
  void end_trial(bool one) {
    const double pause =
        one == outcome_ && pause_ > 0 ? std::min(2 * pause_, longest_pause) : shortest_pause;
    pause_ = std::max(20 * seconds_, pause);
    outcome_ = one_ = one;
    in_trial_ = false;
    seconds_ = 0;
    steps_ = first_steps;
  }

  bool in_trial_ = false, one_ = false, outcome_ = false;
  double seconds_ = 0, pause_ = 0;  // since the trial or the pause began; length of the pause
  int steps_ = 0;
  std::array<Measured, 2> measured_ = {};  // of all threads, and of one
};

}  // namespace heed::inline HEED_REAL
