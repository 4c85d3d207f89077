// Brings each vector to one size (layer_norm: mean 0 and variance 1; rms_norm: mean square 1), then
// scales and shifts it by learned numbers.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {
namespace {

kernels::Rows sizes_of(const char* operation, const Shape& x) {
  return {x.span_size(0, axis_of(operation, x, -1)), x[-1]};
}

// The parameter (width), or a constant if there is none.
Tensor checked(const char* operation, const char* name, const Tensor& parameter, int64_t width,
               real constant) {
  if (!parameter) return Tensor::full({width}, constant);
  check(parameter.shape() == Shape{width}, "{}: {} must have shape [{}], has {}", operation, name,
        width, parameter.shape());
  return parameter;
}

}  // namespace

// y = x̂ · w + b, x̂ = (x - mean) s, s = 1 / √(variance + ε)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  const kernels::Rows n = sizes_of("layer_norm", x.shape());
  const Tensor w = checked("layer_norm", "the weight", weight, n.width, 1);
  const Tensor b = checked("layer_norm", "the bias", bias, n.width, 0);
  Tensor y = Tensor::empty(x.shape());
  Tensor mean = Tensor::empty({n.rows}), scale = Tensor::empty({n.rows});
  kernels::layer_norm_forward(n, epsilon, x.data(), w.data(), b.data(), y.mutable_data(),
                              mean.mutable_data(), scale.mutable_data());
  return record("layer_norm", y, {x, weight, bias},
                [n, xs = saved(x, x, weight), ws = saved(w, x), ms = saved(mean, x, weight),
                 ss = saved(scale, x, weight)](Backward& g) {
                  // dx += s (h - mean(h) - x̂ mean(h x̂)), h = dy · w
                  kernels::layer_norm_backward(n,
                                               {g.dy(), xs.data(), ws.data(), ms.data(), ss.data()},
                                               {g.into_or_null(0),
                                                g.into_or_null(1),    // dw += Σₙ dy · x̂
                                                g.into_or_null(2)});  // db += Σₙ dy
                });
}

// y = x̂ · w, x̂ = x s, s = 1 / √(mean(x²) + ε)
Tensor rms_norm(const Tensor& x, const Tensor& weight, real epsilon) {
  const kernels::Rows n = sizes_of("rms_norm", x.shape());
  const Tensor w = checked("rms_norm", "the weight", weight, n.width, 1);
  Tensor y = Tensor::empty(x.shape()), scale = Tensor::empty({n.rows});
  kernels::rms_norm_forward(n, epsilon, x.data(), w.data(), y.mutable_data(), scale.mutable_data());
  return record(
      "rms_norm", y, {x, weight},
      [n, xs = saved(x, x, weight), ws = saved(w, x), ss = saved(scale, x, weight)](Backward& g) {
        // dx += s (h - x̂ mean(h x̂)), h = dy · w
        kernels::rms_norm_backward(n, {g.dy(), xs.data(), ws.data(), nullptr, ss.data()},
                                   {g.into_or_null(0),
                                    g.into_or_null(1),  // dw += Σₙ dy · x̂
                                    {nullptr, false}});
      });
}

}  // namespace heed::inline HEED_REAL
