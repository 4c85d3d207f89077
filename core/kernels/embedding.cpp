#include "core/kernels/embedding.h"

#include <algorithm>

#include "core/kernels/layout.h"
#include "core/kernels/map.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void gather_rows(int64_t count, int64_t width, const int32_t* ids, const real* table,
                 Destination to) {
  for_each_row(count, width, [=](int64_t n) {
    const real* from = table + ids[n] * width;
    map_range(0, width, {to.data + n * width, to.accumulate}, [=](int64_t j) { return from[j]; });
  });
}

void scatter_rows(int64_t count, int64_t width, const int32_t* ids, const real* dy, int64_t rows,
                  Destination to) {
  if (!to.accumulate) zero_rows(rows, width, to.data, width);
  // Two ids may be equal, so columns, not rows, are divided among the threads.
  constexpr int64_t min_strip = 32;  // columns: two cache lines of floats
  const int64_t strip = std::max({min_strip, chunk_rows(count), (width + 7) / 8});
  parallel_for(width, strip, [=](int64_t first, int64_t last) {
    for (int64_t n = 0; n < count; ++n) {
      const real* g = dy + n * width;
      map_range(first, last, {to.data + ids[n] * width, true}, [=](int64_t j) { return g[j]; });
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
