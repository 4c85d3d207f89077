// Brings each vector to one size (layer_norm: mean 0 and variance 1; rms_norm: mean square 1), then
// scales and shifts it by learned numbers.
#include "core/ops/norm.h"

#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

void NormBackward::operator()(Backward& g) {
  // dx += s (h - mean(h) - x̂ mean(h x̂)), h = dy · w; for RMS norm without mean(h)
  kernels::norm_backward(n, {g.dy(), x.data(), w.data(), mean.data(), scale.data()},
                         {g.into_or_null(0),
                          g.into_or_null(1),    // dw += Σₙ dy · x̂
                          g.into_or_null(2)});  // db += Σₙ dy
}

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

Tensor norm(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias,
            real epsilon, bool is_rms) {
  const kernels::Rows n = sizes_of(name, x.shape());
  const Tensor w = checked(name, "the weight", weight, n.width, 1);
  const Tensor b = is_rms ? Tensor() : checked(name, "the bias", bias, n.width, 0);
  Tensor y = Tensor::empty(x.shape()), scale = Tensor::empty({n.rows});
  Tensor mean = is_rms ? Tensor() : Tensor::empty({n.rows});
  kernels::norm_forward(n, epsilon, x.data(), w.data(), is_rms ? nullptr : b.data(),
                        y.mutable_data(), is_rms ? nullptr : mean.mutable_data(),
                        scale.mutable_data());
  const auto kept = [&](const Tensor& t) { return t ? saved(t, x, weight, bias) : Saved(); };
  return record(name, y, {x, weight, bias},
                NormBackward{n, epsilon, kept(x), kept(w), kept(b), kept(mean), kept(scale)});
}

}  // namespace

// y = x̂ · w + b, x̂ = (x - mean) s, s = 1 / √(variance + ε)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
  return norm("layer_norm", x, weight, bias, epsilon, false);
}

// y = x̂ · w, x̂ = x s, s = 1 / √(mean(x²) + ε)
Tensor rms_norm(const Tensor& x, const Tensor& weight, real epsilon) {
  return norm("rms_norm", x, weight, {}, epsilon, true);
}

}  // namespace heed::inline HEED_REAL
