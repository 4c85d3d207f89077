// Copying, repeating and summing along axes that broadcast.
#pragma once

#include "core/kernels/destination.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = from[i], i < n
void copy(int64_t n, const real* from, Destination to);

// Every row of to (rows, width) is `row` (width).
void repeat(int64_t rows, int64_t width, const real* row, real* to);

// `from`, of shape `shape`, summed along the axes in which `target` was broadcast to `shape`.
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
