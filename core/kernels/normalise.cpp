#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/kernels/simd/lanes.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void hardmax(const Rows& n, const real* x, real* y) {
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
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
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
    const real* from = x + i * width;
    const real sum = row_sum(width, from);
    const bool none = sum <= least;  // false for NaN, which so stays NaN
    sums[i] = none ? 0 : sum;
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return none ? 0 : from[j] / sum; });
  });
}

void sum_normalize_backward(const Rows& n, const real* dy, const real* y, const real* sums,
                            Destination dx) {
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
    const real* g = dy + i * width;
    const real dot = row_dot(width, g, y + i * width), sum = sums[i];
    map_range(0, width, {dx.data + i * width, dx.accumulate},
              [=](int64_t j) { return sum == 0 ? 0 : (g[j] - dot) / sum; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
