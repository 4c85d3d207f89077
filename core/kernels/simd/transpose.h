// A matrix turned over, on the calling thread: to[j][i] = from[i][j], in squares of vectors.
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// `from` (rows, columns) and `to` (columns, rows), with so many numbers from row to row. Rows of
// `to` are written as whole vectors: what is beyond `rows` repeats the last one.
void transpose(int64_t rows, int64_t columns, const real* from, int64_t leading_from, real* to,
               int64_t leading_to);

}  // namespace heed::inline HEED_REAL::kernels
