#include "core/kernels/unary.h"

#include <cmath>

#include "core/kernels/activation_math.h"
#include "core/kernels/map.h"
#include "core/kernels/simd/vector_math.h"

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
  map(n, {y, false}, [=](int64_t i) { return relu_at(x[i]).value; });
}

void relu_backward(int64_t n, const real* dy, const real* y, Destination dx) {
  map(n, dx, [=](int64_t i) { return y[i] > 0 ? dy[i] : 0; });
}

void gelu_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return gelu_at(x[i]).value; });
}

void gelu_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] * gelu_at(x[i]).slope; });
}

void gelu_tanh_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return gelu_tanh_at(x[i]).value; });
}

void gelu_tanh_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] * gelu_tanh_at(x[i]).slope; });
}

void silu_forward(int64_t n, const real* x, real* y) {
  map(n, {y, false}, [=](int64_t i) { return silu_at(x[i]).value; });
}

void silu_backward(int64_t n, const real* dy, const real* x, Destination dx) {
  map(n, dx, [=](int64_t i) { return dy[i] * silu_at(x[i]).slope; });
}

}  // namespace heed::inline HEED_REAL::kernels
