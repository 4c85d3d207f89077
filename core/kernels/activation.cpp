#include "core/autograd.h"
#include "core/kernels/activation_math.h"
#include "core/kernels/linear.h"
#include "core/kernels/map.h"
#include "core/ops/fused.h"

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

void activate_again(Activation function, int64_t n, real* h, real* y) {
  with_activation(function, [=](auto row) {
    if constexpr (row.keeps_slope)
      parallel_for(n, chunk_elements, [=](int64_t first, int64_t last) {
        real *const slope = h, *const value = y;
#pragma GCC ivdep
        for (int64_t i = first; i < last; ++i) {
          const ValueAndSlope at = row.at(slope[i]);
          value[i] = at.value;
          slope[i] = at.slope;
        }
      });
  });
}

void activate_backward(Activation function, int64_t n, const real* dy, real* h) {
  with_activation(function, [=](auto row) {
    if constexpr (row.keeps_slope) {
      const real* __restrict from = dy;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) h[i] = from[i] * row.at(h[i]).slope;
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

namespace heed::inline HEED_REAL::fused {

// A from_output row keeps y for backward, which the next operation keeps anyway; others keep x.
Tensor activate(Activation function, const Tensor& x) {
  return kernels::with_activation(function, [&](auto row) {
    Tensor y = Tensor::empty(x.shape());
    kernels::map(x.size(), {y.mutable_data(), false},
                 [=, xs = x.data()](int64_t i) { return row.value(xs[i]); });
    return record(
        name_of(function), y, {x}, [row, kept = saved(row.keeps_slope ? x : y, x)](Backward& g) {
          const auto gradient = [row](real dy, real v) {  // dx += dy φ'(x)
            if constexpr (row.keeps_slope)
              return dy * row.at(v).slope;
            else
              return row.gradient(dy, v);
          };
          kernels::map(g.size(), g.into(0), [gradient, dy = g.dy(), v = kept.data()](int64_t i) {
            return gradient(dy[i], v[i]);
          });
        });
  });
}

}  // namespace heed::inline HEED_REAL::fused
