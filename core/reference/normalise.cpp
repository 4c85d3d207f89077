// Attention weights without a softmax, of the rows of x (rows, width).
#include <cmath>

#include "core/kernels/more_kernels.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// y[i] = 1 / (number of maxima) if x[i] is the maximum of its row, else 0. A row that is all -inf
// gives zeros; a row with a NaN gives NaN.
void hardmax(const Rows& sizes, const real* x, real* y) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    real* to = y + n * width;
    double maximum = -INFINITY, nan = 0;  // nan: 0, or NaN if there is one
    for (int64_t i = 0; i < width; ++i) {
      maximum = std::max(maximum, double{row[i]});
      if (std::isnan(row[i])) nan = row[i];
    }
    int64_t maxima = 0;
    for (int64_t i = 0; i < width; ++i) maxima += row[i] == maximum;
    for (int64_t i = 0; i < width; ++i)
      to[i] = nan + (row[i] == maximum && maximum != -INFINITY ? 1.0 / maxima : 0.0);
  }
}

// sum = Σᵢ x[i],  y[i] = x[i] / sum. Where |sum| ≤ least, sum and y are 0.
void sum_normalize_forward(const Rows& sizes, real least, const real* x, real* y, real* sums) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    real* to = y + n * width;
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += row[i];
    const bool too_small = std::abs(sum) <= least;
    for (int64_t i = 0; i < width; ++i) to[i] = too_small ? 0 : row[i] / sum;
    sums[n] = too_small ? 0 : sum;
  }
}

// dx[i] = (dy[i] - Σⱼ dy[j] y[j]) / sum, 0 where sum is 0
void sum_normalize_backward(const Rows& sizes, const real* dy, const real* y, const real* sums,
                            Destination dx) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    double dot = 0;
    for (int64_t i = 0; i < width; ++i) dot += double{dy[n * width + i]} * y[n * width + i];
    for (int64_t i = 0; i < width; ++i)
      write(dx, n * width + i, sums[n] == 0 ? 0 : (dy[n * width + i] - dot) / sums[n]);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
