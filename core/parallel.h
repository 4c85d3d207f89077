// The threads of parallel_for() (core/threads.h), and workers with a thread each. Uses OpenMP, or
// std::thread under the thread sanitizer, which does not understand libgomp.
#pragma once

#include <memory>

#include "core/parallel_for.h"
#include "core/threads.h"

namespace heed::inline HEED_REAL {

// The index of the calling worker inside a parallel loop: less than the thread_count() and the
// Threads::limit that the loop started with; 0 outside.
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
