// Activation functions: one row each. From its row follow the operation (core/ops.h), the fused
// epilogue of linear(), the word in a config and the tests.
#pragma once

#include "core/named.h"

namespace heed::inline HEED_REAL {

inline constexpr double sqrt_2_over_pi = 0.79788456080286535588;

// clang-format off
//
// from_output: backward keeps y, which the next operation keeps anyway.
//              (name, y = φ(x), dx = dy φ'(x) as a function of y)
// from_input:  backward keeps x, or φ'(x) where the activation is fused into linear().
//              (name, y = φ(x), φ'(x), variables of both)
//
// The formulas may use exp, tanh, sigmoid and normal (core/kernels/simd/vector_math.h), which have
// no branches, so that a loop over them becomes vector instructions. normal(x).below is Φ(x), the
// normal distribution, and normal(x).density its density.
//
//   relu       max(x, 0), with derivative 0 at 0
//   sigmoid    1 / (1 + e⁻ˣ)
//   silu       x sigmoid(x)                          (Elfwing, Uchibe & Doya 2018)
//   gelu       x Φ(x)                                (Hendrycks & Gimpel 2016)
//   gelu_tanh  ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))), their approximation
//
#define HEED_ACTIVATIONS(from_output, from_input)                                                 \
  from_output(relu,      x < 0 ? 0 : x,      y > 0 ? dy : 0)                                      \
  from_output(tanh,      tanh(x),            dy * (1 - y * y))                                    \
  from_output(sigmoid,   sigmoid(x),         dy * y * (1 - y))                                    \
  from_input (silu,      x * s,              s * (1 + x * (1 - s)),                               \
              s = sigmoid(x))                                                                     \
  from_input (gelu,      x * at.below,       at.below + x * at.density,                           \
              at = normal(x))                                                                     \
  from_input (gelu_tanh, x * (1 + t) / 2,    (1 + t + x * (1 - t * t) * du) / 2,                  \
              t = tanh(real(sqrt_2_over_pi) * (x + real(0.044715) * x * x * x)),                  \
              du = real(sqrt_2_over_pi) * (1 + 3 * real(0.044715) * x * x))
// clang-format on

#define HEED_ACTIVATION_VALUE(name, ...) name,
#define HEED_ACTIVATION_NAMED(name, ...) {#name, Activation::name},

enum class Activation { none, HEED_ACTIVATIONS(HEED_ACTIVATION_VALUE, HEED_ACTIVATION_VALUE) };

inline constexpr Named<Activation> activation_names[] = {
    {"none", Activation::none}, HEED_ACTIVATIONS(HEED_ACTIVATION_NAMED, HEED_ACTIVATION_NAMED)};

}  // namespace heed::inline HEED_REAL
