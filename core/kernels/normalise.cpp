#include "core/kernels/normalise.h"

#include <algorithm>
#include <limits>

#include "core/kernels/lanes.h"
#include "core/kernels/map.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

template <class Row>
void for_rows(int64_t rows, int64_t width, Row row) {
  parallel_for(rows, chunk_rows(width), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) row(i);
  });
}

}  // namespace

void hardmax(int64_t rows, int64_t width, const real* x, real* y) {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  for_rows(rows, width, [=](int64_t i) {
    const real* from = x + i * width;
    const real most = row_max(width, from);
    const auto ties = static_cast<real>(std::count(from, from + width, most));
    const real share = most == -infinity || ties == 0 ? real{0} : 1 / ties;
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return from[j] == most ? share : real{0}; });
  });
}

int64_t sum_normalize_forward(int64_t rows, int64_t width, real least, const real* x, real* y,
                              real* inverse) {
  for_rows(rows, width, [=](int64_t i) {
    const real* from = x + i * width;
    const real total = row_sum(width, from);
    const bool empty = total <= least;  // a NaN is none: it stays one
    inverse[i] = empty ? real{0} : 1 / total;
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return empty ? real{0} : from[j] / total; });
  });
  return std::count(inverse, inverse + rows, real{0});
}

void sum_normalize_backward(int64_t rows, int64_t width, const real* dy, const real* y,
                            const real* inverse, Destination dx) {
  for_rows(rows, width, [=](int64_t i) {
    const real* g = dy + i * width;
    const real dot = row_dot(width, g, y + i * width), factor = inverse[i];
    map_range(0, width, {dx.data + i * width, dx.accumulate},
              [=](int64_t j) { return factor == 0 ? real{0} : (g[j] - dot) * factor; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
