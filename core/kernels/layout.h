// Moving numbers: axes in another order, parts of arrays into and out of others.
#pragma once

#include <cstdint>
#include <span>

#include "core/destination.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// Axis i of the result is axis axes[i] of `from`, which has shape `shape`.
void permute(const real* from, const Shape& shape, std::span<const int> axes, Destination to);

// `rows` runs of `width` numbers, which start from_step apart in `from` and to_step apart in `to`.
void copy_rows(int64_t rows, int64_t width, const real* from, int64_t from_step, Destination to,
               int64_t to_step);

// Zeros in `rows` runs of `width` numbers that start `step` apart.
void zero_rows(int64_t rows, int64_t width, real* to, int64_t step);

}  // namespace heed::inline HEED_REAL::kernels
