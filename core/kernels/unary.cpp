#include "core/kernels/unary.h"

#include <cmath>
#include <numbers>

#include "core/kernels/map.h"
#include "core/kernels/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

void exp_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return exp(x[i]); });
}

void log_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return std::log(x[i]); });
}

void log_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] / x[i]; });
}

void sqrt_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return std::sqrt(x[i]); });
}

void sqrt_backward(int64_t n, const real* dy, const real* y, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] / (2 * y[i]); });
}

// to = factor · weight · x^exponent, weight counting as ones where there is none. Squares, the
// commonest, and what their derivative needs, do without the library's pow.
static void powers(int64_t n, const real* x, real exponent, real factor, const real* weight,
                   Destination to) {
  const auto times = [=](auto power) {
    if (weight)
      map(n, to, [=](int64_t i) { return factor * weight[i] * power(x[i]); });
    else
      map(n, to, [=](int64_t i) { return factor * power(x[i]); });
  };
  if (exponent == 2)
    times([](real v) { return v * v; });
  else if (exponent == 1)
    times([](real v) { return v; });
  else
    times([=](real v) { return std::pow(v, exponent); });
}

void pow_forward(int64_t n, const real* x, real exponent, real* y) {
  powers(n, x, exponent, 1, nullptr, {y, false});
}

void pow_backward(int64_t n, const real* dy, const real* x, real exponent, Destination dx) {
  if (exponent == 0)  // 0 · x⁻¹ would be NaN at 0
    map(n, dx, [](int64_t) { return real{0}; });
  else
    powers(n, x, exponent - 1, exponent, dy, dx);
}

void tanh_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return tanh(x[i]); });
}

void tanh_backward(int64_t n, const real* dy, const real* y, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] * (1 - y[i] * y[i]); });
}

void sigmoid_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return sigmoid(x[i]); });
}

void sigmoid_backward(int64_t n, const real* dy, const real* y, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] * y[i] * (1 - y[i]); });
}

void relu_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return x[i] < 0 ? 0 : x[i]; });  // NaN stays
}

void relu_backward(int64_t n, const real* dy, const real* y, Destination dx) {
  map(n, dx, [=](int64_t i) { return y[i] > 0 ? dy[i] : 0; });
}

void gelu_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return x[i] * normal(x[i]).below; });
}

void gelu_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) {
    const Normal<real> at = normal(x[i]);
    return dy[i] * (at.below + x[i] * at.density);
  });
}

namespace {
constexpr real root_2_over_pi = static_cast<real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
constexpr real cubic = static_cast<real>(0.044715);
}  // namespace

void gelu_tanh_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) {
    const real v = x[i];
    return v * (1 + tanh(root_2_over_pi * (v + cubic * v * v * v))) / 2;
  });
}

void gelu_tanh_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) {
    const real v = x[i];
    const real t = tanh(root_2_over_pi * (v + cubic * v * v * v));
    const real slope = root_2_over_pi * (1 + 3 * cubic * v * v);  // of what tanh is taken of
    return dy[i] * (1 + t + v * (1 - t * t) * slope) / 2;
  });
}

void silu_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return x[i] * sigmoid(x[i]); });
}

void silu_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) {
    const real s = sigmoid(x[i]);
    return dy[i] * s * (1 + x[i] * (1 - s));
  });
}

}  // namespace heed::inline HEED_REAL::kernels
