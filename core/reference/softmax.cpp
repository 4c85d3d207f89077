// Softmax of the rows of x (rows, width), and its gradient.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// y[i] = exp(x[i]) / Σⱼ exp(x[j]); all zeros if all x[i] are -inf
void softmax_forward(const Rows& sizes, const real* x, real* y) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    const SumExp total = sum_exp(width, [=](int64_t i) { return row[i]; });
    for (int64_t i = 0; i < width; ++i) y[n * width + i] = total.softmax(row[i]);
  }
}

// dx[i] = y[i] (dy[i] - Σⱼ dy[j] y[j])
void softmax_backward(const Rows& sizes, const real* dy, const real* y, Destination dx) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real *g = dy + n * width, *p = y + n * width;
    double dot = 0;
    for (int64_t i = 0; i < width; ++i) dot += double{g[i]} * p[i];
    for (int64_t i = 0; i < width; ++i) write(dx, n * width + i, p[i] * (g[i] - dot));
  }
}

}  // namespace heed::inline HEED_REAL::kernels
