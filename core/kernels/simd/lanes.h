// Sums and maxima over a row, in an order that is fixed and that vectorises.
//
// Floating-point addition is not associative, so a compiler may not turn one running total into
// several unless told to. These tell it: one total for each place in a vector, joined at the end.
// The order is a matter of the length and of what the program was built for: the same bits every
// time, at the speed of the vector unit.
#pragma once

#include <cstdint>
#include <limits>

#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {

// Σ f(i), i < n. f must not write: where a loop begins its vectors would then be a matter of where
// in memory it writes, and so would the order of the sum.
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

// Σ f(x[i]…), i < n, f taking vectors: for the short rows of small models, where joining the lanes
// in pairs instead of one by one shows.
template <class F, class... Row>
inline real sum_of_rows(int64_t n, F f, const Row*... x) {
  Vector total{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) total += f(load(x + i)...);
  if (i < n) {
    real rest[lanes];
    store(rest, f(load_some(x + i, n - i)...));
    total += load_some(rest, n - i);
  }
  return sum(total);
}

inline real row_sum(int64_t n, const real* x) {
  return sum_of_rows(
      n, [](Vector v) { return v; }, x);
}

inline real row_dot(int64_t n, const real* x, const real* y) {
  return sum_of_rows(
      n, [](Vector v, Vector w) { return v * w; }, x, y);
}

inline real row_max(int64_t n, const real* x) {
  constexpr real nothing = -std::numeric_limits<real>::infinity();
  Vector most = Vector{} + nothing;
  const auto take = [&](Vector v) { most = v > most ? v : most; };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) take(load(x + i));
  real last = nothing;
  for (; i < n; ++i) last = x[i] > last ? x[i] : last;
  take(Vector{} + last);
  return greatest(most);
}

}  // namespace heed::inline HEED_REAL::kernels
