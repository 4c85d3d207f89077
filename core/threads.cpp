#include "core/threads.h"

#include <atomic>
#include <bit>
#include <ctime>
#include <sys/resource.h>

#include "core/check.h"
#include "core/processors.h"

namespace heed::inline HEED_REAL {

static std::atomic<int>& most_threads() {
  static std::atomic<int> count = requested_threads() > 0 ? requested_threads() : physical_cores();
  return count;
}

int thread_count() { return most_threads(); }

void set_thread_count(int threads) {
  check(threads >= 1, "threads: at least 1, got {}", threads);
  most_threads() = threads;
}

void share_cores(int processes) {
  if (requested_threads() == 0 && !is_bound())
    set_thread_count(std::max(1, physical_cores() / processes));
}

int Threads::of_parts(int64_t parts) {
  return static_cast<int>(
      std::bit_floor(static_cast<uint64_t>(std::min<int64_t>(parts, thread_count()))));
}

void Threads::loop_done() {
  if (++loops_ % 8 != 0) return;
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const double seconds = now - begin_;
  if (seconds < ThreadBudget::window) return;
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double running =
      static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  if (begin_ > 0)
    budget_.observe(seconds, running - running_, usage.ru_nivcsw - suspensions_, thread_count());
  begin_ = now;
  running_ = running;
  suspensions_ = usage.ru_nivcsw;
}

}  // namespace heed::inline HEED_REAL
