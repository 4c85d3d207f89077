#include "core/parallel.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <sys/resource.h>
#include <vector>

#ifdef HEED_STD_THREADS
#include <thread>
#else
#include <omp.h>
#endif

#include "core/abandon.h"
#include "core/check.h"
#include "core/processors.h"
#include "core/stage_observer.h"
#include "core/thread_budget.h"

namespace heed::inline HEED_REAL {

namespace {
std::atomic<int>& threads() {
  static std::atomic<int> count = requested_threads() > 0 ? requested_threads() : physical_cores();
  return count;
}
// The worker that this thread is in the parallel loop it runs; -1 outside any loop. Not in Scope,
// because it belongs to the thread: a ScopeGuard must not restore it.
constinit thread_local int worker = -1;

// The thread budget of the loops that one thread starts, and the window that it observes.
class ObservedBudget {
 public:
  int threads(int most) const { return budget_.threads(most); }

  // To be called after each loop. Reads the clock after every eighth, and more after each window.
  void loop_done(int most) {
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
      budget_.observe(seconds, running - running_, usage.ru_nivcsw - suspensions_, most);
    begin_ = now;
    running_ = running;
    suspensions_ = usage.ru_nivcsw;
  }

 private:
  ThreadBudget budget_;
  uint32_t loops_ = 0;
  double begin_ = 0, running_ = 0;
  long suspensions_ = 0;
};
constinit thread_local ObservedBudget budget;
}  // namespace

int thread_count() { return threads(); }

void set_thread_count(int count) {
  check(count >= 1, "threads: at least 1, got {}", count);
  threads() = count;
}

int current_worker() { return std::max(0, worker); }

namespace detail {
namespace {

int allowed_threads() { return std::min(budget.threads(threads()), max_threads); }

// Calls f(number, of) on `count` threads at once, or on fewer if the system grants fewer.
template <class F>
void start_threads(int count, const F& f) {
#ifdef HEED_STD_THREADS
  std::vector<std::thread> others;
  for (int number = 1; number < count; ++number) others.emplace_back(f, number, count);
  f(0, count);
  for (std::thread& other : others) other.join();
#else
#pragma omp parallel num_threads(count)
  f(omp_get_thread_num(), omp_get_num_threads());
#endif
}

// The same, and tells what observes this thread how long it waited.
template <class F>
void on_threads(int count, const F& f) {
  if (!ObserverScope::exists()) {
    start_threads(count, f);
  } else {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Clock::duration own{};
    start_threads(count, [&](int number, int of) {
      if (number > 0) return f(number, of);
      const Clock::time_point first = Clock::now();
      f(0, of);
      own = Clock::now() - first;
    });
    const std::chrono::nanoseconds waited = Clock::now() - begin - own;
    StageObserver::notify([&](StageObserver& o) { o.loop_finished(waited.count()); });
  }
  budget.loop_done(threads());
}

}  // namespace

void run_chunks(int64_t chunks, int64_t work, void (*run)(void*, int64_t), void* context) {
  const int64_t useful = std::min(chunks, std::max<int64_t>(1, work / chunk_elements));
  const int count = static_cast<int>(std::min<int64_t>(allowed_threads(), useful));
  const AbandonTest test = abandons;
  const ValueGuard<AbandonTest> loops_inside(abandons, nullptr);
  const auto run_range = [=](int64_t first, int64_t last) {
    const ValueGuard<AbandonTest> chunks_here(chunk_abandons, test ? test : chunk_abandons);
    for (int64_t chunk = first; chunk < last && !(test && test()); ++chunk) run(context, chunk);
  };
  if (count == 1 || worker >= 0) {
    run_range(0, chunks);
    if (test && test()) throw Abandoned();
    if (worker >= 0 || useful == 1 || threads() == 1) return;
    StageObserver::notify([](StageObserver& o) { o.loop_finished(0); });
    budget.loop_done(threads());
    return;
  }
  on_threads(count, [=](int number, int workers) {
    worker = number;
    // Adjacent chunks go to one worker, whose cache holds what it wrote in the previous loop.
    run_range(chunks * number / workers, chunks * (number + 1) / workers);
    worker = -1;
  });
  if (test && test()) throw Abandoned();
}

void run_workers(int count, void (*run)(void*, int), void* context) {
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  const auto serve = [&](int number, int of) {
    // Of the loops that it runs, each on this thread.
    const ValueGuard here(worker, std::max(0, worker));
    for (int i = count * number / of; i < count * (number + 1) / of; ++i) {
      try {
        run(context, i);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    }
  };
  if (worker >= 0)
    serve(0, 1);
  else
    on_threads(std::min(count, allowed_threads()), serve);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace heed::inline HEED_REAL
