// What the tests of layers share: random numbers, and how far two tensors are apart.
#pragma once

#include "nn/module.h"

namespace heed::inline HEED_REAL::testing {

#ifdef HEED_DOUBLE
inline constexpr double rounding = 1e-10;
#else
inline constexpr double rounding = 1e-5;
#endif

// U(-1, 1), another for every `stream`; wants a gradient.
Tensor random_tensor(const Shape& shape, uint32_t stream);
// Random numbers in the place of every parameter, biases too.
void shake(const Module& module);

// ‖got - wanted‖ / ‖wanted‖, over all elements; the shapes must agree.
double relative_difference(const Tensor& got, const Tensor& wanted);
// ‖got - wanted‖ is within rounding of ‖wanted‖, or of 1 where that is less.
void check_same(const Tensor& got, const Tensor& wanted);
double l1(const Tensor& x);

// Σ cotangent · x, for a random cotangent: all of x takes part.
Tensor read_out(const Tensor& x);

}  // namespace heed::inline HEED_REAL::testing
