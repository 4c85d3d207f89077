#include "core/kernels/broadcast.h"

#include <algorithm>

#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void copy(int64_t n, const real* from, Destination to) {
  parallel_for(n, 1 << 15, [=](int64_t first, int64_t last) {
    const real* __restrict x = from;
    real* __restrict y = to.data;
    if (to.accumulate)
      for (int64_t i = first; i < last; ++i) y[i] += x[i];
    else
      std::copy(x + first, x + last, y + first);
  });
}

}  // namespace heed::inline HEED_REAL::kernels
