// Transposes a matrix on the calling thread, in squares of lanes × lanes elements held in vector
// registers: to[j][i] = from[i][j].
#pragma once

#include <cstdint>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// `from` (rows, columns) and `to` (columns, rows), each with its leading dimension. Rows of `to`
// are written in whole vectors: the elements beyond `rows` repeat the last row of `from`.
void transpose(int64_t rows, int64_t columns, const real* from, int64_t leading_from, real* to,
               int64_t leading_to);

}  // namespace heed::inline HEED_REAL::kernels
