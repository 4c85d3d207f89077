// exp, tanh, sigmoid and the normal distribution in float, for loops that the compiler vectorizes.
//
// The functions of the standard library are calls, one element at a time. These have neither
// branches nor calls. Their error in units of the last place (ulp), infinities, NaN, overflow and
// underflow included: exp 1, tanh and sigmoid 3, the normal distribution 4, and 7 in its far tail
// (measured in tests/core/vector_math.cpp). The double build, which exists to be exact, uses the
// standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "core/kernels/fma.h"

namespace heed::inline HEED_REAL::kernels {

inline constexpr real infinity = std::numeric_limits<real>::infinity();

namespace detail {

// e^x = 2^k (1 + q) with k the integer nearest to x / ln 2, so that q is small: |q| < 0.42.
struct ExpParts {
  int32_t k;
  float q;
};

[[gnu::always_inline]] inline ExpParts exp_parts(float x) {
  // Adding 1.5 · 2^23 leaves no bits for a fraction: the sum is rounded, and its low bits hold k.
  constexpr float rounder = 0x1.8p23f;
  const float rounded = fma(x, std::numbers::log2e_v<float>, rounder);
  const int32_t k = __builtin_bit_cast(int32_t, rounded) - __builtin_bit_cast(int32_t, rounder);
  const float n = rounded - rounder;
  // ln 2 in two parts. The first has nine bits, so that its product with n is exact.
  const float r = fma(n, 2.12194440e-4f, fma(n, -0.693359375f, x));
  // e^r - 1 = r + r² P(r), with P the minimax polynomial on |r| ≤ ½ ln 2 (relative error 3e-9).
  float p = 1.3814222086e-3f;
  p = fma(p, r, 8.3688986621e-3f);
  p = fma(p, r, 4.1668405717e-2f);
  p = fma(p, r, 1.6666519130e-1f);
  p = fma(p, r, 4.9999993346e-1f);
  return {k, fma(r * r, p, r)};
}

// 2^k, -127 < k < 128.
[[gnu::always_inline]] inline float power_of_two(int32_t k) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(k + 127) << 23);
}

[[gnu::always_inline]] inline float exp_of_parts(int32_t k, float q) {
  const int32_t half = k >> 1;  // 2^k in two factors, as it may overflow or underflow
  return (1.0f + q) * power_of_two(half) * power_of_two(k - half);
}

}  // namespace detail

[[gnu::always_inline]] inline float exp(float x) {
  // Beyond these bounds the result is 0 or infinity. A NaN passes both comparisons unchanged. The 0
  // is selected at the end. Computing it would use subnormal numbers, which cost a hundred cycles
  // for every score that a mask hides.
  const bool vanishes = x < -104.0f;
  x = vanishes ? 0.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const auto [k, q] = detail::exp_parts(x);
  const float result = detail::exp_of_parts(k, q);
  return vanishes ? 0.0f : result;
}
inline double exp(double x) { return std::exp(x); }

// (e^2a - 1) / (e^2a + 1), a = |x|
[[gnu::always_inline]] inline float tanh(float x) {
  const float a = std::fabs(x);
  const auto [k, q] = detail::exp_parts(a > 9.1f ? 18.2f : 2.0f * a);  // from 9.02 on it is 1
  const float power = detail::power_of_two(k);
  const float e = fma(power, q, power - 1.0f);  // e^2a - 1, exact to the last place for small a too
  return std::copysign(e / (e + 2.0f), x);
}
inline double tanh(double x) { return std::tanh(x); }

// 1 / (1 + e^-x)
[[gnu::always_inline]] inline float sigmoid(float x) {
  const float e = exp(-std::fabs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The standard normal distribution: its density φ(x) and its cumulative distribution Φ(x).
template <class T>
struct Normal {
  T density, below;
};

[[gnu::always_inline]] inline Normal<float> normal(float x) {
  const float magnitude = std::fabs(x);
  const bool vanishes = magnitude * magnitude > 208.0f;  // there φ(x) and Φ(-|x|) are 0 in float
  const float a = vanishes ? 0.0f : magnitude;
  const float square = a * a;
#ifdef __wasm__  // has no fused multiply-add: in double, a² and the difference are exact
  const auto rounding = static_cast<float>(double{a} * a - square);
#else
  const float rounding = std::fma(a, a, -square);  // of a²
#endif
  const auto [k, r] = detail::exp_parts(-0.5f * square);
  const float exact = detail::exp_of_parts(k, r) * fma(-0.5f, rounding, 1.0f);
  const float e = vanishes ? 0.0f : exact;
  // Φ(-a) = e^(-a²/2) P(a) / Q(a), a minimax fit on 0 ≤ a ≤ 14.5 (relative error 6e-9). All
  // coefficients are positive, so nothing cancels.
  float p = 4.1165275e-3f;
  p = fma(p, a, 4.0634642e-2f);
  p = fma(p, a, 1.8323925e-1f);
  p = fma(p, a, 4.3830035e-1f);
  p = fma(p, a, 0.5f);
  float q = 1.0318485e-2f;
  q = fma(q, a, 1.0186239e-1f);
  q = fma(q, a, 4.6948150e-1f);
  q = fma(q, a, 1.2025200f);
  q = fma(q, a, 1.6744857f);
  q = fma(q, a, 1.0f);
  const float tail = e * (p / q);
  return {0.3989422804f * e, x > 0.0f ? 1.0f - tail : tail};
}
inline Normal<double> normal(double x) {
  return {std::numbers::inv_sqrtpi / std::numbers::sqrt2 * std::exp(-0.5 * x * x),
          0.5 * std::erfc(-x / std::numbers::sqrt2)};
}

}  // namespace heed::inline HEED_REAL::kernels
