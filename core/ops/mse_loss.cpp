// Squared error.
#include "core/autograd.h"
#include "core/kernels/more_kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

// (x - y)², Σ (x - y)² or Σ (x - y)² / n
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction) {
  check(x.shape() == y.shape(), "mse_loss: shapes {} and {} differ", x.shape(), y.shape());
  if (reduction == Reduction::none) {
    const Tensor difference = x - y;
    return difference * difference;
  }
  const bool is_mean = reduction == Reduction::mean;
  check(!is_mean || x.size() > 0, "mse_loss: shape {} has no elements", x.shape());
  const double n = is_mean ? static_cast<double>(x.size()) : 1;
  Tensor loss = Tensor::scalar(
      static_cast<real>(kernels::squared_distance(x.size(), x.data(), y.data()) / n));
  return record("mse_loss", loss, {x, y},
                [n, xs = saved(x, x, y), ys = saved(y, x, y)](Backward& g) {
                  const real factor = static_cast<real>(2 / n) * *g.dy();
                  const auto add = [&](int i, real sign) {
                    kernels::scaled_difference(xs.shape().size(), sign * factor, xs.data(),
                                               ys.data(), g.into(i));
                  };
                  if (g.wants(0)) add(0, 1);   // dx += dy · 2 (x - y) / n
                  if (g.wants(1)) add(1, -1);  // dy -= the same
                });
}

}  // namespace heed::inline HEED_REAL
