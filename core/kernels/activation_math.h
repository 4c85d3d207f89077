// The rows of core/activation.h as types, for loops over their elements.
//
//   Row::value(x)            φ(x)
//   Row::keeps_slope         whether the row is a from_input
//   Row::gradient(dy, kept)  dy φ'(x), where kept is φ'(x) if keeps_slope, else φ(x)
//   Row::at(x)               φ(x) and φ'(x), if keeps_slope
#pragma once

#include "core/activation.h"
#include "core/kernels/simd/vector_math.h"

namespace heed::inline HEED_REAL::kernels {

// A loop that uses only one of them computes only that one.
struct ValueAndSlope {
  real value, slope;
};

#define HEED_FROM_OUTPUT(name, formula, gradient_formula)              \
  struct name##_row {                                                  \
    static constexpr bool keeps_slope = false;                         \
    static real value(real x) { return formula; }                      \
    static real gradient(real dy, real y) { return gradient_formula; } \
  };
#define HEED_FROM_INPUT(name, formula, slope_formula, ...)           \
  struct name##_row {                                                \
    static constexpr bool keeps_slope = true;                        \
    static ValueAndSlope at(real x) {                                \
      const auto __VA_ARGS__;                                        \
      return {formula, slope_formula};                               \
    }                                                                \
    static real value(real x) { return at(x).value; }                \
    static real gradient(real dy, real slope) { return dy * slope; } \
  };
HEED_ACTIVATIONS(HEED_FROM_OUTPUT, HEED_FROM_INPUT)
#undef HEED_FROM_OUTPUT
#undef HEED_FROM_INPUT

// Calls use(row) with the row of an activation other than none.
template <class Use>
auto with_activation(Activation function, Use use) {
#define HEED_CASE(name, ...) \
  case Activation::name:     \
    return use(name##_row{});
  switch (function) {
    HEED_ACTIVATIONS(HEED_CASE, HEED_CASE)
    case Activation::none:
      break;
  }
#undef HEED_CASE
  return decltype(use(relu_row{}))();
}

}  // namespace heed::inline HEED_REAL::kernels
