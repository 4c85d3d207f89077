// The activations of core/activation.h in double, from the functions of the standard library.
#pragma once

#include <cmath>
#include <numbers>

#include "core/activation.h"

namespace heed::inline HEED_REAL::testing {

struct ActivationDefinition {
  const char* name;
  Activation function;
  double (*value)(double);
};

namespace definitions {

using real = double;
using std::exp, std::tanh;
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
struct Normal {
  double density, below;
};
inline Normal normal(double x) {
  return {std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi),
          std::erfc(-x / std::numbers::sqrt2) / 2};
}

#define HEED_FROM_OUTPUT(name, formula, gradient) \
  {#name, Activation::name, [](double x) -> double { return formula; }},
#define HEED_FROM_INPUT(name, formula, slope, ...)   \
  {#name, Activation::name, [](double x) -> double { \
     [[maybe_unused]] const auto __VA_ARGS__;        \
     return formula;                                 \
   }},
inline constexpr ActivationDefinition all[] = {HEED_ACTIVATIONS(HEED_FROM_OUTPUT, HEED_FROM_INPUT)};
#undef HEED_FROM_OUTPUT
#undef HEED_FROM_INPUT

}  // namespace definitions
}  // namespace heed::inline HEED_REAL::testing
