// The definitions: each kernel as the loop that a paper writes. Read bound(n) as n.
//
// core/reference/NAME.cpp takes the place of core/kernels/NAME.cpp: no blocks, no vector
// instructions, no threads, and sums in double. Tests compare the two. The preset `reference`
// builds heed from these loops: any config then trains, slowly, and a printf in one of them shows a
// real training run at work.
//
//   cmake --preset reference && cmake --build --preset reference
//   build/reference/bin/heed train configs/sort.toml
#pragma once

#include <algorithm>
#include <cmath>

#include "core/kernels/kernels.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

// The upper bound n of the outermost loop of a kernel; 0 in a scope with shapes_only, where kernels
// compute nothing and touch no memory (core/scope.h).
inline int64_t bound(int64_t n) { return scope().shapes_only ? 0 : n; }

// to[i] = value, or to[i] += value
inline void write(Destination to, int64_t i, double value) {
  to.data[i] = static_cast<real>(to.accumulate ? to.data[i] + value : value);
}

// The sum of exponentials that softmax divides by, as the maximum m and Σᵢ exp(x(i) - m), since
// exp(x(i)) itself may overflow.
struct SumExp {
  double maximum, sum;

  // log Σᵢ exp(x(i)), -inf if all x(i) are -inf
  double log() const { return maximum + std::log(sum); }
  // exp(x) / Σᵢ exp(x(i)), 0 if all x(i) are -inf
  double softmax(double x) const { return sum == 0 ? 0 : std::exp(x - maximum) / sum; }
};

template <class X>
SumExp sum_exp(int64_t n, X x) {
  double maximum = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; ++i) maximum = std::max(maximum, double{x(i)});
  if (maximum == -INFINITY) maximum = 0;  // -inf - -inf would be NaN
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x(i) - maximum);
  return {maximum, sum};
}

}  // namespace heed::inline HEED_REAL::kernels
