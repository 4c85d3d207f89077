// Permuting axes, and copying strided rows.
#pragma once

#include <cstdint>
#include <span>

#include "core/destination.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// Permutes the axes of `from`, of shape `shape`: axis i of the result is axis axes[i].
void permute(const real* from, const Shape& shape, std::span<const int> axes, Destination to);

// Copies `rows` rows of `width` elements, from_step apart in `from` and to_step apart in `to`.
void copy_rows(int64_t rows, int64_t width, const real* from, int64_t from_step, Destination to,
               int64_t to_step);

// Fills `rows` rows of `width` elements, `step` apart, with zeros.
void zero_rows(int64_t rows, int64_t width, real* to, int64_t step);

}  // namespace heed::inline HEED_REAL::kernels
