// On one thread: entries of a segment lie anywhere, their sums must be in a fixed order, and there
// are as many steps here as edges times heads, few beside the products around them.
#include "core/kernels/segment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

// Calls f(e, s): where entry `e` begins, and where its segment does.
template <class F>
void for_entries(const SegmentSizes& n, const int32_t* ids, F f) {
  for (int64_t e = 0; e < n.entries; ++e) f(e * n.columns, ids[e] * n.columns);
}

}  // namespace

void segment_softmax_forward(const SegmentSizes& n, const int32_t* ids, const real* x, real* y,
                             real* greatest, real* total) {
  std::fill_n(greatest, n.segments * n.columns, -infinity);
  std::fill_n(total, n.segments * n.columns, real{0});
  for_entries(n, ids, [&](int64_t e, int64_t s) {
    for (int64_t c = 0; c < n.columns; ++c) greatest[s + c] = std::max(greatest[s + c], x[e + c]);
  });
  for_entries(n, ids, [&](int64_t e, int64_t s) {
    for (int64_t c = 0; c < n.columns; ++c) {
      const real most = greatest[s + c];
      y[e + c] = most == -infinity ? real{0} : std::exp(x[e + c] - most);
      total[s + c] += y[e + c];
    }
  });
  for_entries(n, ids, [&](int64_t e, int64_t s) {
    for (int64_t c = 0; c < n.columns; ++c)
      if (total[s + c] != 0) y[e + c] /= total[s + c];
  });
}

void segment_softmax_backward(const SegmentSizes& n, const int32_t* ids, const real* dy,
                              const real* y, real* dot, Destination dx) {
  std::fill_n(dot, n.segments * n.columns, real{0});
  for_entries(n, ids, [&](int64_t e, int64_t s) {
    for (int64_t c = 0; c < n.columns; ++c) dot[s + c] += dy[e + c] * y[e + c];
  });
  for_entries(n, ids, [&](int64_t e, int64_t s) {
    map_range(0, n.columns, {dx.data + e, dx.accumulate},
              [=](int64_t c) { return y[e + c] * (dy[e + c] - dot[s + c]); });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
