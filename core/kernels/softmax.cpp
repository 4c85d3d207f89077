#include <cmath>

#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// What is subtracted before exp: the maximum, but -inf - -inf would be NaN.
real shift_for(real maximum) { return maximum == -infinity ? 0 : maximum; }
// 1 / total and log total of a sum of exponentials, which is 0 if all elements are -inf.
real inverse_of(real total) { return total == 0 ? 0 : 1 / total; }
real log_of(real total) { return total == 0 ? 0 : std::log(total); }

void softmax_row(int64_t n, const real* __restrict x, real* __restrict y) {
  const real shift = shift_for(row_max(n, x));
  for (int64_t i = 0; i < n; ++i) y[i] = exp(x[i] - shift);
  const real inverse = inverse_of(row_sum(n, y));
  for (int64_t i = 0; i < n; ++i) y[i] *= inverse;
}

void log_softmax_row(int64_t n, const real* __restrict x, real* __restrict y) {
  const real shift = shift_for(row_max(n, x));
  const real log_total = log_of(sum_of(n, [=](int64_t i) { return exp(x[i] - shift); }));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - shift - log_total;
}

}  // namespace

void softmax_forward(const Rows& n, const real* x, real* y) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    softmax_row(width, x + i * width, y + i * width);
  });
}

void log_softmax_forward(const Rows& n, const real* x, real* y) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    log_softmax_row(width, x + i * width, y + i * width);
  });
}

// dx = y (dy - Σ dy y)
void softmax_backward(const Rows& n, const real* dy, const real* y, Destination dx) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real *g = dy + i * width, *p = y + i * width;
    const real dot = row_dot(width, g, p);
    map_range(0, width, {dx.data + i * width, dx.accumulate},
              [=](int64_t j) { return p[j] * (g[j] - dot); });
  });
}

// dx = dy - eʸ Σ dy, or 0 if all elements are -inf
void log_softmax_backward(const Rows& n, const real* dy, const real* y, Destination dx) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real *g = dy + i * width, *l = y + i * width;
    const Destination to{dx.data + i * width, dx.accumulate};
    const real total = row_sum(width, g);
    if (row_max(width, l) == -infinity && row_sum(width, l) == -infinity)  // and none is NaN
      map_range(0, width, to, [](int64_t) { return real{0}; });
    else
      map_range(0, width, to, [=](int64_t j) { return g[j] - exp(l[j]) * total; });
  });
}

void hardmax(const Rows& n, const real* x, real* y) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real* from = x + i * width;
    const real maximum = row_max(width, from);
    const real ties = sum_of(width, [=](int64_t j) { return from[j] == maximum ? real{1} : 0; });
    const real share = maximum == -infinity ? 0 : 1 / ties;
    // NaN if any element is, else 0. (The maximum ignores NaN.)
    const real nan = sum_of(width, [=](int64_t j) { return from[j] == from[j] ? 0 : from[j]; });
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return nan + (from[j] == maximum ? share : 0); });
  });
}

void sum_normalize_forward(const Rows& n, real least, const real* x, real* y, real* sums) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real* from = x + i * width;
    const real sum = row_sum(width, from);
    const bool none = std::abs(sum) <= least;  // false for NaN, which so stays NaN
    sums[i] = none ? 0 : sum;
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return none ? 0 : from[j] / sum; });
  });
}

void sum_normalize_backward(const Rows& n, const real* dy, const real* y, const real* sums,
                            Destination dx) {
  for_each_row(n.rows, n.width, [=, width = n.width](int64_t i) {
    const real* g = dy + i * width;
    const real dot = row_dot(width, g, y + i * width), sum = sums[i];
    map_range(0, width, {dx.data + i * width, dx.accumulate},
              [=](int64_t j) { return sum == 0 ? 0 : (g[j] - dot) / sum; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
