// Rows of a table by index, and their gradients.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// to[n, :] = table[ids[n], :], n < count; table (…, width)
void gather_rows(int64_t count, int64_t width, const int32_t* ids, const real* table,
                 Destination to);

// to[ids[n], :] += dy[n, :], n < count; to (rows, width) is first filled with zeros unless it
// accumulates. The gradients of one row are added in the order of n.
void scatter_rows(int64_t count, int64_t width, const int32_t* ids, const real* dy, int64_t rows,
                  Destination to);

}  // namespace heed::inline HEED_REAL::kernels
