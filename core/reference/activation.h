// The activations in double, a row each: name, φ(x), φ'(x).
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "core/activation.h"

namespace heed::inline HEED_REAL {
namespace activations {

struct Row {
  Activation name;
  double (*value)(double x);
  double (*slope)(double x);
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Φ(x), the normal distribution, and its density.
inline double normal(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
inline double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

// √(2/π) (x + 0.044715 x³), of gelu_tanh, and its derivative.
inline double cubic(double x) { return sqrt_2_over_pi * (x + 0.044715 * x * x * x); }
inline double cubic_slope(double x) { return sqrt_2_over_pi * (1 + 3 * 0.044715 * x * x); }

// clang-format off
inline constexpr Row table[] = {
    {Activation::relu,
     [](double x) { return x < 0 ? 0 : x; },
     [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {Activation::tanh,
     [](double x) { return std::tanh(x); },
     [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {Activation::sigmoid,
     sigmoid,
     [](double x) { return sigmoid(x) * (1 - sigmoid(x)); }},
    {Activation::silu,
     [](double x) { return x * sigmoid(x); },
     [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
    {Activation::gelu,
     [](double x) { return x * normal(x); },
     [](double x) { return normal(x) + x * density(x); }},
    {Activation::gelu_tanh,
     [](double x) { return x * (1 + std::tanh(cubic(x))) / 2; },
     [](double x) {
       const double t = std::tanh(cubic(x));
       return (1 + t + x * (1 - t * t) * cubic_slope(x)) / 2;
     }},
};
// clang-format on

inline const Row& row_of(Activation function) {
  return *std::find_if(std::begin(table), std::end(table),
                       [=](const Row& row) { return row.name == function; });
}

}  // namespace activations
}  // namespace heed::inline HEED_REAL
