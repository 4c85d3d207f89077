// Sums and maxima over a row that are both vectorized and reproducible.
//
// Floating-point addition is not associative, so a compiler must not split one running total into
// several unless it is told to. These functions keep one total for each lane of a vector and
// combine the lanes at the end. The order of summation depends only on the length of the row and on
// the vector length of the build, so results are bitwise reproducible.
#pragma once

#include <cstdint>

#include "core/kernels/simd/vector.h"
#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

// Σ f(i), i < n. f must not write: the compiler might then align the loop to the address it writes
// to, and the order of the sum would depend on that address.
template <class F>
inline real sum_of(int64_t n, F f) {
  real total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += f(i);
  return total;
}

// The maximum of f(i), i < n; -inf if n = 0. NaN may be ignored.
template <class F>
inline real max_of(int64_t n, F f) {
  real maximum = -infinity;
#pragma omp simd reduction(max : maximum)
  for (int64_t i = 0; i < n; ++i) {
    const real value = f(i);
    maximum = value > maximum ? value : maximum;
  }
  return maximum;
}

// Σ x[i], i < n. Faster than sum_of() for short rows, because lanes are combined in pairs.
inline real row_sum(int64_t n, const real* x) {
  Vector total{};
  for_each_vector(n, [&](int64_t i, auto part) { total += part.load(x + i); });
  return sum(total);
}

// Σ x[i] y[i], i < n
inline real row_dot(int64_t n, const real* x, const real* y) {
  Vector total{};
  for_each_vector(
      n, [&](int64_t i, auto part) { total = fma(part.load(x + i), part.load(y + i), total); });
  return sum(total);
}

// Σ f(x[i]…)², i < n, where f takes vectors.
template <class F, class... Row>
inline real sum_of_squares(int64_t n, F f, const Row*... x) {
  Vector total{};
  for_each_vector(n, [&](int64_t i, auto part) {
    const Vector values = part.select(f(part.load(x + i)...), 0);
    total = fma(values, values, total);
  });
  return sum(total);
}

// The maximum of a row; -inf if n = 0. NaN is ignored.
inline real row_max(int64_t n, const real* x) {
  Vector largest = broadcast(-infinity);
  for_each_vector(n, [&](int64_t i, auto part) {
    const Vector values = part.select(part.load(x + i), -infinity);
    largest = values > largest ? values : largest;
  });
  return maximum(largest);
}

}  // namespace heed::inline HEED_REAL::kernels
