// Sums and maxima over a row, in an order that is fixed and that vectorises.
//
// Floating-point addition is not associative, so a compiler may not turn one running total into
// several unless told to. These tell it: one total for each place in a vector, joined at the end.
// The order is a matter of the length and of what the program was built for: the same bits every
// time, at the speed of the vector unit.
#pragma once

#include <cstdint>
#include <limits>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// Σ f(i), i < n. f may write what it computed on its way.
template <class F>
inline real sum_of(int64_t n, F f) {
  real total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += f(i);
  return total;
}

// The greatest f(i), i < n; -inf if there is none. A NaN among them may or may not show.
template <class F>
inline real max_of(int64_t n, F f) {
  real greatest = -std::numeric_limits<real>::infinity();
#pragma omp simd reduction(max : greatest)
  for (int64_t i = 0; i < n; ++i) {
    const real value = f(i);
    greatest = value > greatest ? value : greatest;
  }
  return greatest;
}

inline real row_sum(int64_t n, const real* x) {
  return sum_of(n, [=](int64_t i) { return x[i]; });
}

inline real row_dot(int64_t n, const real* x, const real* y) {
  return sum_of(n, [=](int64_t i) { return x[i] * y[i]; });
}

inline real row_max(int64_t n, const real* x) {
  return max_of(n, [=](int64_t i) { return x[i]; });
}

}  // namespace heed::inline HEED_REAL::kernels
