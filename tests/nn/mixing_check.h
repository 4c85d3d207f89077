// What every Mixing must keep to.
#pragma once

#include "nn/mixing.h"
#include "support.h"

namespace heed::inline HEED_REAL::testing {

// The result has the shape of x (B, T, D), and the gradients of x and of every parameter agree with
// central differences.
void check_mixing(const Mixing& mixing, const Tensor& x, const SequenceContext& around);

// What stands behind the lengths of `around` changes neither results nor gradients at real places,
// not by a bit.
void check_padding_is_unseen(const Mixing& mixing, const Tensor& x, const SequenceContext& around);

// Row n of the result is row from[n] of x, which is seen as (rows, D).
Tensor reordered(const Tensor& x, const Ids& from);

}  // namespace heed::inline HEED_REAL::testing
