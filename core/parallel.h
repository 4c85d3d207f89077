// Parallel loops. The chunks depend only on the shape, so results are bitwise the same for any
// number of threads; where no result depends on the chunks, they may depend on the threads. Uses
// OpenMP, or std::thread under the thread sanitizer, which does not understand libgomp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/real.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {

// The maximum number of threads of a parallel loop, for all threads of the process that start one.
// Default: the physical cores this process may use. Loops use fewer on a busy machine
// (thread_budget.h) and where `most_threads` says so. Another thread may change it at any time, and
// the loops that have started keep theirs.
int thread_count();
void set_thread_count(int count);
// The maximum number of threads of the loops that this thread starts. Change it with a ValueGuard.
inline constinit thread_local int most_threads = std::numeric_limits<int>::max();
int physical_cores();
// Lets the calling thread run on all processors that the program may use. OMP_PROC_BIND binds the
// main thread to one of them before main() begins, and a child process would inherit that.
void untie_thread();

// The index of the calling worker inside a parallel loop: less than the thread_count() and the
// `most_threads` that the loop started with; 0 outside.
int current_worker();

namespace detail {
void run_chunks(int64_t chunks, int64_t work, void (*run)(void* context, int64_t chunk),
                void* context);
}

// The number of simple operations that makes a chunk worth a thread.
inline constexpr int64_t chunk_elements = 1 << 14;
// The same as a number of rows of `width` elements.
inline int64_t chunk_rows(int64_t width) {
  return std::max<int64_t>(1, chunk_elements / std::max<int64_t>(1, width));
}

// Calls f(first, last) on consecutive chunks of `grain` indices that cover [0, n). f must not throw
// and must not allocate from the pool. A loop of one chunk runs on the calling thread, and so does
// a loop inside a loop. Where the grain is not chosen by chunk_elements, `work` is the number of
// simple operations of the whole loop: it gets one thread for each chunk_elements of them. Runs
// nothing in a scope with shapes_only.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f,
                  int64_t work = std::numeric_limits<int64_t>::max()) {
  if (n <= 0 || scope().shapes_only) return;
  if (n <= grain) return f(int64_t{0}, n);
  struct Loop {
    int64_t n, grain;
    std::remove_reference_t<F>* f;
  } loop{n, grain, std::addressof(f)};
  detail::run_chunks((n + grain - 1) / grain, work,
                     [](void* context, int64_t chunk) {
                       const Loop& l = *static_cast<const Loop*>(context);
                       (*l.f)(chunk * l.grain, std::min(l.n, (chunk + 1) * l.grain));
                     },
                     &loop);
}

namespace detail {
void run_workers(int count, void (*run)(void* context, int worker), void* context);
}

// Calls f(worker) for each worker in [0, count), each on a thread of its own, worker 0 on the
// calling one; on a busy machine a thread may serve several, one after the other. Loops inside f
// run on their worker's thread. Unlike the body of a parallel_for, f may throw and may allocate: a
// thread has a Scope, a pool and a graph of its own. Rethrows the exception of the first worker
// that threw one, after all have ended. With a count of 1, f is called as it is.
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
