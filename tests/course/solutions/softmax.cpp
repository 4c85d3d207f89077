#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

Tensor softmax(const Tensor& x, int axis) {
  axis = x.shape().axis(axis);
  const int64_t outer = x.shape().span_size(0, axis), length = x.dim(axis);
  const int64_t rest = x.shape().span_size(axis + 1, x.rank());
  Tensor y = Tensor::empty(x.shape());
  const real* const from = x.data();
  real* const to = y.mutable_data();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t r = 0; r < rest; ++r) {
      const int64_t first = o * length * rest + r, last = first + length * rest;
      real largest = from[first], total = 0;
      for (int64_t i = first; i < last; i += rest) largest = std::max(largest, from[i]);
      if (std::isinf(largest)) largest = 0;
      for (int64_t i = first; i < last; i += rest) total += to[i] = std::exp(from[i] - largest);
      for (int64_t i = first; i < last; i += rest) to[i] /= total > 0 ? total : 1;
    }
  return record("softmax", y, {x}, [=, ys = saved(y, x)](Backward& g) {
    const Destination dx = g.into(0);
    const real *const dy = g.dy(), *const p = ys.data();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t r = 0; r < rest; ++r) {
        const int64_t first = o * length * rest + r, last = first + length * rest;
        real mean = 0;
        for (int64_t i = first; i < last; i += rest) mean += dy[i] * p[i];
        for (int64_t i = first; i < last; i += rest)
          dx.data[i] = (dx.accumulate ? dx.data[i] : 0) + p[i] * (dy[i] - mean);
      }
  });
}

}  // namespace heed::inline HEED_REAL
