// The nonlinearities and their derivatives, for loops over numbers (see vector_math.h).
#pragma once

#include <numbers>

#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

// φ(h) and φ'(h); a loop that uses one of them computes no more than that.
struct ValueAndSlope {
  real value, slope;
};

// max(h, 0), with derivative 0 at 0; NaN stays
inline ValueAndSlope relu_at(real h) { return {h < 0 ? 0 : h, real(h > 0)}; }

inline ValueAndSlope tanh_at(real h) {
  const real t = tanh(h);
  return {t, 1 - t * t};
}

// h s, s = sigmoid(h)
inline ValueAndSlope silu_at(real h) {
  const real s = sigmoid(h);
  return {h * s, s * (1 + h * (1 - s))};
}

// h Φ(h), with derivative Φ(h) + h Φ'(h)
inline ValueAndSlope gelu_at(real h) {
  const Normal<real> at = normal(h);
  return {h * at.below, at.below + h * at.density};
}

// ½ h (1 + t), t = tanh u, u = √(2/π) (h + 0.044715 h³)
inline ValueAndSlope gelu_tanh_at(real h) {
  constexpr real root = static_cast<real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  constexpr real cubic = static_cast<real>(0.044715);
  const real t = tanh(root * (h + cubic * h * h * h));
  const real slope_of_u = root * (1 + 3 * cubic * h * h);
  return {h * (1 + t) / 2, (1 + t + h * (1 - t * t) * slope_of_u) / 2};
}

}  // namespace heed::inline HEED_REAL::kernels
