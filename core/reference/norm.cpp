// Layer norm (Ba, Kiros and Hinton 2016, "Layer normalization") and RMS norm (Zhang and Sennrich
// 2019, "Root mean square layer normalization") of the rows of x (rows, width).
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// mean = Σᵢ x[i] / width,  variance = Σᵢ (x[i] - mean)² / width,  scale = 1 / √(variance + ε)
// y[i] = (x[i] - mean) · scale · weight[i] + bias[i]
// RMS norm is the same with mean = 0 and bias = 0.
void norm_forward(const Rows& sizes, real epsilon, const real* x, const real* weight,
                  const real* bias, real* y, real* mean, real* scale) {
  const auto [rows, width] = sizes;
  for (int64_t n = 0; n < bound(rows); ++n) {
    const real* row = x + n * width;
    real* to = y + n * width;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i) sum += row[i];
    const double m = mean ? sum / width : 0;
    for (int64_t i = 0; i < width; ++i) squares += (row[i] - m) * (row[i] - m);
    const double s = 1 / std::sqrt(squares / width + epsilon);
    for (int64_t i = 0; i < width; ++i) to[i] = (row[i] - m) * s * weight[i] + (bias ? bias[i] : 0);
    if (mean) mean[n] = m;
    scale[n] = s;
  }
}

// With x̂ = (x - mean) · scale and h = dy · weight, sums over the rows n and means over a row:
//   dx = scale (h - mean(h) - x̂ mean(h x̂)),   db = Σₙ dy[n],   dw = Σₙ dy[n] · x̂[n]
// For RMS norm, mean and mean(h) are 0.
void norm_backward(const Rows& sizes, const NormBackwardInputs& in, const NormGradients& to) {
  const int64_t rows = sizes.rows, width = sizes.width;
  const auto x_hat = [&](int64_t n, int64_t i) {
    return (double{in.x[n * width + i]} - (in.mean ? in.mean[n] : 0)) * in.scale[n];
  };
  const auto h = [&](int64_t n, int64_t i) { return double{in.dy[n * width + i]} * in.weight[i]; };
  for (int64_t n = 0; n < bound(to.dx.data ? rows : 0); ++n) {
    double mean_h = 0, mean_hx = 0;
    for (int64_t i = 0; i < width; ++i) {
      if (in.mean) mean_h += h(n, i) / width;
      mean_hx += h(n, i) * x_hat(n, i) / width;
    }
    for (int64_t i = 0; i < width; ++i)
      write(to.dx, n * width + i, in.scale[n] * (h(n, i) - mean_h - x_hat(n, i) * mean_hx));
  }
  for (int64_t i = 0; i < bound(width); ++i) {
    double sum = 0, weighted_sum = 0;
    for (int64_t n = 0; n < rows; ++n) {
      if (to.dbias.data) sum += in.dy[n * width + i];
      if (to.dweight.data) weighted_sum += in.dy[n * width + i] * x_hat(n, i);
    }
    if (to.dbias.data) write(to.dbias, i, sum);
    if (to.dweight.data) write(to.dweight, i, weighted_sum);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
