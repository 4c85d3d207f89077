// The activation functions φ: what makes a network more than one matrix.
//
//   relu       max(x, 0), with derivative 0 at 0
//   sigmoid    1 / (1 + e⁻ˣ)
//   silu       x sigmoid(x)                          (Elfwing, Uchibe & Doya 2018)
//   gelu       x Φ(x), Φ the normal distribution     (Hendrycks & Gimpel 2016)
//   gelu_tanh  ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))), their approximation
//
// core/reference/activation.h has all formulas. A name is also the word in a config, so one list
// makes the values and their names.
#pragma once

#include <cstddef>

#include "core/real.h"

namespace heed::inline HEED_REAL {

inline constexpr double sqrt_2_over_pi = 0.79788456080286535588;  // √(2/π), of gelu_tanh

#define HEED_ACTIVATIONS(entry) \
  entry(relu) entry(tanh) entry(sigmoid) entry(silu) entry(gelu) entry(gelu_tanh)

#define HEED_ACTIVATION_VALUE(name) name,
#define HEED_ACTIVATION_TEXT(name) #name,

// φ; none: the identity.
enum class Activation { none, HEED_ACTIVATIONS(HEED_ACTIVATION_VALUE) };
// Returns the word in a config: "gelu_tanh".
inline const char* name_of(Activation function) {
  static constexpr const char* names[] = {"none", HEED_ACTIVATIONS(HEED_ACTIVATION_TEXT)};
  return names[static_cast<size_t>(function)];
}

}  // namespace heed::inline HEED_REAL
