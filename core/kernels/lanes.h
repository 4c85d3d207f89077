// Sums and maxima over a row, in an order that is fixed and that vectorises.
//
// Floating-point addition is not associative, so a compiler may not turn one running total into
// several. These keep `lanes` totals side by side, one for each place in a vector, and add them at
// the end: the same bits every time, at the speed of the vector unit.
#pragma once

#include <cstdint>
#include <limits>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

constexpr int lanes = 16;  // one vector of floats with AVX-512, two with AVX2

// Folds f(i), i < n, into one number by `join`, which must be associative in exact arithmetic.
template <class F, class Join>
inline real fold(int64_t n, real start, F f, Join join) {
  real total[lanes];
  for (real& t : total) t = start;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) total[lane] = join(total[lane], f(i + lane));
  for (int lane = 0; i + lane < n; ++lane) total[lane] = join(total[lane], f(i + lane));
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) total[lane] = join(total[lane], total[lane + width]);
  return total[0];
}

inline real row_sum(int64_t n, const real* x) {
  return fold(
      n, 0, [=](int64_t i) { return x[i]; }, [](real a, real b) { return a + b; });
}

inline real row_dot(int64_t n, const real* x, const real* y) {
  return fold(
      n, 0, [=](int64_t i) { return x[i] * y[i]; }, [](real a, real b) { return a + b; });
}

// -inf for an empty row; a NaN in it may or may not show.
inline real row_max(int64_t n, const real* x) {
  return fold(
      n, -std::numeric_limits<real>::infinity(), [=](int64_t i) { return x[i]; },
      [](real a, real b) { return a > b ? a : b; });
}

}  // namespace heed::inline HEED_REAL::kernels
