#include "core/parallel.h"

#include <chrono>
#include <exception>
#include <vector>

#ifdef HEED_STD_THREADS
#include <thread>
#else
#include <omp.h>
#endif

#include "core/abandon.h"
#include "core/stage_observer.h"

namespace heed::inline HEED_REAL {

namespace {
// The worker that this thread is in the parallel loop it runs; -1 outside any loop. Not in Scope,
// because it belongs to the thread: a ScopeGuard must not restore it.
constinit thread_local int worker = -1;
}  // namespace

int current_worker() { return std::max(0, worker); }

namespace detail {
namespace {

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
  Threads::here().loop_done();
}

}  // namespace

void run_chunks(int64_t chunks, int64_t work, void (*run)(void*, int64_t), void* context) {
  const int64_t useful = std::min(chunks, std::max<int64_t>(1, work / chunk_elements));
  const int count = static_cast<int>(std::min<int64_t>(Threads::here().of_loop(), useful));
  const AbandonTest test = abandons;
  const ValueGuard<AbandonTest> loops_inside(abandons, nullptr);
  const auto run_range = [=](int64_t first, int64_t last) {
    const ValueGuard<AbandonTest> chunks_here(chunk_abandons, test ? test : chunk_abandons);
    for (int64_t chunk = first; chunk < last && !(test && test()); ++chunk) run(context, chunk);
  };
  if (count == 1 || worker >= 0) {
    run_range(0, chunks);
    if (test && test()) throw Abandoned();
    if (worker >= 0 || useful == 1 || thread_count() == 1) return;
    StageObserver::notify([](StageObserver& o) { o.loop_finished(0); });
    Threads::here().loop_done();
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
    on_threads(std::min(count, Threads::here().of_loop()), serve);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace heed::inline HEED_REAL
