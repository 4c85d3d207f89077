// The logarithm of softmax of the rows of x (rows, width), and its gradient.
#include "core/kernels/more_kernels.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// y[i] = x[i] - log Σⱼ exp(x[j]); all -inf if all x[i] are -inf
void log_softmax_forward(const Rows& sizes, const real* x, real* y) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    const SumExp total = sum_exp(width, [=](int64_t i) { return row[i]; });
    for (int64_t i = 0; i < width; ++i)
      y[n * width + i] = total.sum == 0 ? -INFINITY : row[i] - total.log();
  }
}

// dx[i] = dy[i] - exp(y[i]) Σⱼ dy[j]; all zeros if all y[i] are -inf
void log_softmax_backward(const Rows& sizes, const real* dy, const real* y, Destination dx) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real *g = dy + n * width, *l = y + n * width;
    double total = 0;
    bool all_hidden = true;
    for (int64_t i = 0; i < width; ++i) {
      total += g[i];
      all_hidden = all_hidden && l[i] == -INFINITY;
    }
    for (int64_t i = 0; i < width; ++i)
      write(dx, n * width + i, all_hidden ? 0 : g[i] - std::exp(double{l[i]}) * total);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
