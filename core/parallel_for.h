// Loops over chunks of indices, on several threads. The chunks depend only on the shape, so results
// are bitwise the same for any number of threads. Where no result depends on the chunks, they may
// depend on the threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/scope.h"

namespace heed::inline HEED_REAL {

namespace detail {
// Calls run(context, chunk) for every chunk in [0, chunks), on one thread or on several.
void run_chunks(int64_t chunks, int64_t work, void (*run)(void* context, int64_t chunk),
                void* context);
}  // namespace detail

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

}  // namespace heed::inline HEED_REAL
