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
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL {

class ThreadBudget {
 public:
  static constexpr double window = 0.04, shortest_pause = 0.25, longest_pause = 4;  // seconds

  // The number of threads to use if at most `most` are allowed.
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

}  // namespace heed::inline HEED_REAL
