// Copying and repeating.
#pragma once

#include <cstdint>

#include "core/kernels/destination.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = from[i], i < n
void copy(int64_t n, const real* from, Destination to);

// Every row of to (rows, width) is `row` (width).
void repeat(int64_t rows, int64_t width, const real* row, real* to);

}  // namespace heed::inline HEED_REAL::kernels
