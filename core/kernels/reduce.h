// Sums and maxima along any axes. The order of summation depends only on the shapes.
#pragma once

#include "core/destination.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// Sums `from`, of shape `shape`, along the axes in which `target` broadcasts to `shape`.
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to);

// Takes the maximum along the same axes: NaN if any element is NaN, -inf if there are none.
void max_to(const real* from, const Shape& shape, const Shape& target, real* to);

}  // namespace heed::inline HEED_REAL::kernels
