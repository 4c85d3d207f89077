// Decides how many threads compute: everything that has a say is here. No result depends on it.
//
//   a process           thread_count(): OMP_NUM_THREADS, or one thread for each physical core, or a
//                       share of these; what set_thread_count() says, as for a config's `threads`
//   a block of code     Threads::limit, for loops that have scratch memory for so many
//   a busy machine      ThreadBudget, which each thread that starts loops observes
//   a training step     ThreadTrial: all threads, or one if that is faster
//   parts of a batch    Threads::of_parts()
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

// The maximum number of threads of a parallel loop, for all threads of the process that start one.
// Another thread may change it at any time, and the loops that have started keep theirs.
int thread_count();
void set_thread_count(int count);
// Shares the cores of this machine with that many processes in all, unless OMP_NUM_THREADS is set
// or this process is bound to some of the cores.
void share_cores(int processes);

// How many threads a parallel loop uses on a busy machine.
//
// A loop ends with its slowest thread. Where another program uses one of the cores, the system
// suspends one of the threads for milliseconds, and the others wait: two threads can then take
// eight times as long as one. No result depends on the number of threads, so it may follow what the
// calling thread observes, in windows of 40 ms:
//   busy       the thread ran for less than 85 % of the window, because it was suspended or slept
//              while it waited for another, and the system suspended threads of this process
//   otherwise  the window is quiet
// After a busy window, loops use a quarter of the threads less, but at least one less. After a
// pause without one they use more again. If that was too early, the pause doubles, up to 4 s.
//
// Clients do not need it.
class ThreadBudget {
 public:
  static constexpr double window = 0.04, shortest_pause = 0.25, longest_pause = 4;  // seconds

  // Returns the number of threads to use if at most `most` are allowed.
  int threads(int most) const { return std::max(1, most - unused_); }

  // Takes the observations of one window: its length and the time that the calling thread ran, in
  // seconds, and how often the system suspended a thread of the process.
  void observe(double seconds, double running, int64_t suspensions, int most) {
    const bool busy =
        running < 0.85 * seconds && static_cast<double>(suspensions) >= std::max(2.0, 40 * seconds);
    if (busy && threads(most) > 1) {
      pause_ = since_change_ < pause_ ? std::min(2 * pause_, longest_pause) : shortest_pause;
      unused_ = most - threads(most) + std::max(1, threads(most) / 4);
      since_change_ = 0;
    } else if ((since_change_ += seconds) >= pause_ && unused_ > 0) {
      unused_ /= 2;
      since_change_ = 0;
    }
  }

 private:
  int unused_ = 0;
  double pause_ = shortest_pause;
  double since_change_ = longest_pause;
};

// What decides for the loops that one thread starts. Clients do not need it.
class Threads {
 public:
  // Of the calling thread.
  static Threads& here();
  // Returns how many compute so many equal parts of a task: a power of two, as their number is.
  static int of_parts(int64_t parts);
  // Returns how many the next loop uses, at most.
  int of_loop() const { return std::min(budget_.threads(thread_count()), limit); }
  // To be called after each loop. Reads the clock after every eighth, and more after each window of
  // the budget.
  void loop_done();

  int limit = std::numeric_limits<int>::max();  // change it with a ValueGuard

 private:
  ThreadBudget budget_;
  uint32_t loops_ = 0;
  double begin_ = 0, running_ = 0;  // of the window; time that the thread had run until then
  int64_t suspensions_ = 0;
};
namespace detail {
inline constinit thread_local Threads threads_here;
}
inline Threads& Threads::here() { return detail::threads_here; }

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
//
// Clients do not need it.
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

  // Computes a step with them. It returns its amount of work, as step_done() takes it.
  template <class Step>
  void run(const Step& step) {
    using Clock = std::chrono::steady_clock;
    const ValueGuard limit(Threads::here().limit, threads(thread_count()));
    const Clock::time_point begin = Clock::now();
    const double work = step();
    step_done(std::chrono::duration<double>(Clock::now() - begin).count(), work);
  }

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
