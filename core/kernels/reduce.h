// Sums and maxima along any axes, in an order that only the shapes decide.
#pragma once

#include "core/destination.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// `from`, of shape `shape`, summed along the axes in which `target` was broadcast to `shape`.
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to);

// The greatest along the same axes: NaN where there is one, -inf where there is nothing.
void max_to(const real* from, const Shape& shape, const Shape& target, real* to);

}  // namespace heed::inline HEED_REAL::kernels
