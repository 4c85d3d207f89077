// The activations in `real`, as types for loops over their elements: one row each.
//
//   Row::value(x)            φ(x)
//   Row::keeps_slope         whether the row is a from_input
//   Row::gradient(dy, kept)  dy φ'(x), where kept is φ'(x) if keeps_slope, else φ(x)
//   Row::at(x)               φ(x) and φ'(x), if keeps_slope
#pragma once

#include "core/activation.h"
#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

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
#define HEED_ACTIVATION_FORMULAS(from_output, from_input)                                                 \
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

// A loop that uses only one of them computes only that one. All are inlined, so that loops become
// vector instructions.
struct ValueAndSlope {
  real value, slope;
};

#define HEED_FROM_OUTPUT(name, formula, gradient_formula)                                     \
  struct name##_row {                                                                         \
    static constexpr bool keeps_slope = false;                                                \
    [[gnu::always_inline]] static real value(real x) { return formula; }                      \
    [[gnu::always_inline]] static real gradient(real dy, real y) { return gradient_formula; } \
  };
#define HEED_FROM_INPUT(name, formula, slope_formula, ...)                                  \
  struct name##_row {                                                                       \
    static constexpr bool keeps_slope = true;                                               \
    [[gnu::always_inline]] static ValueAndSlope at(real x) {                                \
      const auto __VA_ARGS__;                                                               \
      return {formula, slope_formula};                                                      \
    }                                                                                       \
    [[gnu::always_inline]] static real value(real x) { return at(x).value; }                \
    [[gnu::always_inline]] static real gradient(real dy, real slope) { return dy * slope; } \
  };
HEED_ACTIVATION_FORMULAS(HEED_FROM_OUTPUT, HEED_FROM_INPUT)
#undef HEED_FROM_OUTPUT
#undef HEED_FROM_INPUT

// Calls use(row) with the row of an activation other than none.
template <class Use>
auto with_activation(Activation function, Use use) {
#define HEED_CASE(name)  \
  case Activation::name: \
    return use(name##_row{});
  switch (function) {
    HEED_ACTIVATIONS(HEED_CASE)
    case Activation::none:
      break;
  }
#undef HEED_CASE
  return decltype(use(relu_row{}))();
}

}  // namespace heed::inline HEED_REAL::kernels
