#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// y = x̂ · weight + bias,  x̂ = (x - mean) · scale,  scale = 1 / √(variance + epsilon)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  const int64_t width = x.dim(-1), rows = x.shape().span_size(0, x.rank() - 1);
  const Tensor w = weight ? weight : Tensor::full({width}, 1);
  const Tensor b = bias ? bias : Tensor::full({width}, 0);
  Tensor y = Tensor::zeros(x.shape());
  Tensor mean = Tensor::zeros({rows}), scale = Tensor::zeros({rows});  // of each row, for backward
  real *const to = y.mutable_data(), *const means = mean.mutable_data(),
              *const scales = scale.mutable_data();
  for (int64_t n = 0; n < rows; ++n) {
    const real* const row = x.data() + n * width;
    real variance = 0;
    for (int64_t i = 0; i < width; ++i) means[n] += row[i] / static_cast<real>(width);
    for (int64_t i = 0; i < width; ++i)
      variance += (row[i] - means[n]) * (row[i] - means[n]) / static_cast<real>(width);
    scales[n] = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < width; ++i)
      to[n * width + i] = (row[i] - means[n]) * scales[n] * w.data()[i] + b.data()[i];
  }

  return record("layer_norm", y, {x, weight, bias},
                [=, xs = saved(x, x, weight), ws = saved(w, x), ms = saved(mean, x, weight),
                 ss = saved(scale, x, weight)](Backward& g) {
                  // dy of row n is g.dy() + n * width; xs.data(), ws.data(), ms.data() and
                  // ss.data() are the elements of x, w, mean and scale.
                  const auto normal = [&](int64_t n, int64_t i) {
                    return (xs.data()[n * width + i] - ms.data()[n]) * ss.data()[n];
                  };
                  const real* const dy = g.dy();
                  if (g.wants(0)) {
                    const Destination dx = g.into(0);
                    if (!dx.accumulate) std::fill_n(dx.data, rows * width, real{0});
                    for (int64_t n = 0; n < rows; ++n) {
                      real mean_d = 0, mean_dx = 0;
                      for (int64_t i = 0; i < width; ++i) {
                        const real d = dy[n * width + i] * ws.data()[i];
                        mean_d += d / static_cast<real>(width);
                        mean_dx += d * normal(n, i) / static_cast<real>(width);
                      }
                      for (int64_t i = 0; i < width; ++i)
                        dx.data[n * width + i] += ss.data()[n] * (dy[n * width + i] * ws.data()[i] -
                                                                  mean_d - normal(n, i) * mean_dx);
                    }
                  }
                  if (g.wants(1)) {
                    const Destination dw = g.into(1);
                    if (!dw.accumulate) std::fill_n(dw.data, width, real{0});
                    for (int64_t n = 0; n < rows; ++n)
                      for (int64_t i = 0; i < width; ++i)
                        dw.data[i] += dy[n * width + i] * normal(n, i);
                  }
                  if (g.wants(2)) {
                    const Destination db = g.into(2);
                    if (!db.accumulate) std::fill_n(db.data, width, real{0});
                    for (int64_t n = 0; n < rows; ++n)
                      for (int64_t i = 0; i < width; ++i) db.data[i] += dy[n * width + i];
                  }
                });
}

}  // namespace heed::inline HEED_REAL
