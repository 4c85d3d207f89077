// What every Mixing must keep to, and numbers to try it on.
#pragma once

#include "nn/surroundings.h"

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

// Σ cotangent · x, for a random cotangent: all of x takes part.
Tensor read_out(const Tensor& x);

// The result has the shape of x (B, T, D), and the gradients of x and of every parameter agree with
// central differences.
void check_mixing(const Mixing& mixing, const Tensor& x, const Surroundings& around);

// What stands behind the lengths of `around` changes neither results nor gradients at real places,
// not by a bit.
void check_padding_is_unseen(const Mixing& mixing, const Tensor& x, const Surroundings& around);

// Row n of the result is row from[n] of x, which is seen as (rows, D).
Tensor reordered(const Tensor& x, const Ids& from);

}  // namespace heed::inline HEED_REAL::testing
