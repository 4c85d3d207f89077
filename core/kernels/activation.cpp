#include "core/kernels/activation_math.h"
#include "core/kernels/linear.h"
#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {

bool keeps_slope(Activation function) {
  return with_activation(function, [](auto row) { return row.keeps_slope; });
}

void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope) {
  with_activation(function, [=](auto row) {
    for (int64_t n = 0; n < rows; ++n) {
      real* __restrict h = y + n * leading;
      if constexpr (row.keeps_slope) {
        if (slope) {
          real* __restrict slopes = slope + n * leading;
#pragma GCC ivdep
          for (int64_t i = 0; i < width; ++i) {
            const ValueAndSlope at = row.at(h[i]);
            h[i] = at.value;
            slopes[i] = at.slope;
          }
          continue;
        }
      }
      for (int64_t i = 0; i < width; ++i) h[i] = row.value(h[i]);
    }
  });
}

void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh) {
  with_activation(function, [=](auto row) {
    if (dh == kept) {
      const real* __restrict from = dy;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) dh[i] = row.gradient(from[i], dh[i]);
    } else {
      map_range(0, n, {dh, false}, [=](int64_t i) { return row.gradient(dy[i], kept[i]); });
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
