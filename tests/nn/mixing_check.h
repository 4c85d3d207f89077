// Properties of every Mixing.
#pragma once

#include "nn/mixing.h"
#include "support.h"

namespace heed::inline HEED_REAL::testing {

// A context of two examples with these lengths.
SequenceContext with_lengths(int32_t first, int32_t second);

// An input of shape `x` throws an Error that contains `text`.
void check_rejects(const Mixing& mixing, const Shape& x, const SequenceContext& context,
                   const char* text);

// The result has the shape of x (B, T, D), and the gradients of x and of every parameter agree with
// central differences.
void check_mixing(const Mixing& mixing, const Tensor& x, const SequenceContext& context);

// Padding beyond the lengths of `context` changes no bit of results and gradients at real
// positions.
void check_padding_is_unseen(const Mixing& mixing, const Tensor& x, const SequenceContext& context);

// Row n of the result is row from[n] of x, which is seen as (rows, D).
Tensor reordered(const Tensor& x, const Ids& from);

}  // namespace heed::inline HEED_REAL::testing
