// The threads that parallel_for() uses, and workers with a thread each. Uses OpenMP, or std::thread
// under the thread sanitizer, which does not understand libgomp.
#pragma once

#include <limits>
#include <memory>

#include "core/parallel_for.h"

namespace heed::inline HEED_REAL {

// The maximum number of threads of a parallel loop, for all threads of the process that start one.
// Default: physical_cores() (processors.h). Loops use fewer on a busy machine
// (thread_budget.h) and where `max_threads` says so. Another thread may change it at any time, and
// the loops that have started keep theirs.
int thread_count();
void set_thread_count(int count);
// The maximum number of threads of the loops that this thread starts. Change it with a ValueGuard.
inline constinit thread_local int max_threads = std::numeric_limits<int>::max();

// The index of the calling worker inside a parallel loop: less than the thread_count() and the
// `max_threads` that the loop started with; 0 outside.
int current_worker();

namespace detail {
void run_workers(int count, void (*run)(void* context, int worker), void* context);
}

// Calls f(worker) for each worker in [0, count), each on a thread of its own, worker 0 on the
// calling one; on a busy machine a thread may serve several, one after the other, and inside a loop
// or a worker the calling thread serves all. Loops inside f run on their worker's thread. Unlike
// the body of a parallel_for, f may throw and may allocate: a thread has a Scope, a pool and a
// graph of its own. Rethrows the exception of the first worker that threw one, after all have
// ended. With a count of 1, f is called as it is.
template <class F>
void run_workers(int count, F&& f) {
  if (count == 1) return f(0);
  detail::run_workers(
      count,
      [](void* context, int number) {
        (*static_cast<std::remove_reference_t<F>*>(context))(number);
      },
      std::addressof(f));
}

}  // namespace heed::inline HEED_REAL
