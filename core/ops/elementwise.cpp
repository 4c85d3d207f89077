// Functions of one value, element by element. Each operation is its formula and its derivative.
// Compiled like the kernels, so that the loops become vector instructions.
#include <cmath>

#include "core/autograd.h"
#include "core/kernels/map.h"
#include "core/kernels/simd/vector_math.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {
namespace {

template <class Value>
Tensor elementwise(const Tensor& x, Value value) {
  Tensor y = Tensor::empty(x.shape());
  kernels::map(x.size(), {y.mutable_data(), false},
               [=, xs = x.data()](int64_t i) { return value(xs[i]); });
  return y;
}

template <class Gradient>
void elementwise_backward(Backward& g, const Saved& saved, Gradient gradient) {
  kernels::map(g.size(), g.into(0), [=, dy = g.dy(), kept = saved.data()](int64_t i) {
    return gradient(dy[i], kept[i]);
  });
}

// y = value(x), dx += gradient(dy, y). Backward keeps y, which the next operation keeps anyway.
template <class Value, class Gradient>
Tensor from_output(const char* name, const Tensor& x, Value value, Gradient gradient) {
  const Tensor y = elementwise(x, value);
  return record(name, y, {x}, [gradient, ys = saved(y, x)](Backward& g) {
    elementwise_backward(g, ys, gradient);
  });
}

// y = value(x), dx += gradient(dy, x)
template <class Value, class Gradient>
Tensor from_input(const char* name, const Tensor& x, Value value, Gradient gradient) {
  return record(name, elementwise(x, value), {x}, [gradient, xs = saved(x, x)](Backward& g) {
    elementwise_backward(g, xs, gradient);
  });
}

}  // namespace

Tensor neg(const Tensor& x) {
  return record("neg", elementwise(x, [](real v) { return -v; }), {x}, [](Backward& g) {
    kernels::map(g.size(), g.into(0), [dy = g.dy()](int64_t i) { return -dy[i]; });
  });
}

Tensor exp(const Tensor& x) {
  return from_output(
      "exp", x, [](real v) { return kernels::exp(v); }, [](real dy, real y) { return dy * y; });
}

Tensor log(const Tensor& x) {
  return from_input(
      "log", x, [](real v) { return std::log(v); }, [](real dy, real v) { return dy / v; });
}

Tensor sqrt(const Tensor& x) {
  return from_output(
      "sqrt", x, [](real v) { return std::sqrt(v); }, [](real dy, real y) { return dy / (2 * y); });
}

// y = xᵉ, dx += e dy xᵉ⁻¹
Tensor pow(const Tensor& x, real e) {
  if (e == 0)  // 0 · x⁻¹ would be NaN at 0
    return from_input(
        "pow", x, [](real) { return real{1}; }, [](real, real) { return real{0}; });
  if (e == 2)  // the most common, without the library's pow
    return from_input(
        "pow", x, [](real v) { return v * v; }, [](real dy, real v) { return 2 * dy * v; });
  return from_input(
      "pow", x, [e](real v) { return std::pow(v, e); },
      [e](real dy, real v) { return e * dy * std::pow(v, e - 1); });
}

}  // namespace heed::inline HEED_REAL
