// Product of at most four rows with a transposed matrix, for one thread: what generating one token
// costs.
//
//   c[i, j] = scale · Σₚ a[i, p] b[j, p] + bias[j]  (+ c[i, j])      i < 4
//
// Both operands are contiguous along p, so each element of c is a dot product of two rows. Each
// weight is read once, in place, and multiplied by every row of a: with so few rows, packing would
// cost more than the product. The order of a sum does not depend on the number of rows.
#pragma once

#include "core/kernels/gemm/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// Whether gemm_few_rows() can compute a · b and is the fastest kernel for it: by measurement up to
// three times as fast for one row, and no faster from five rows on. Sums shorter than a vector are
// excluded.
inline bool has_few_rows(const Matrix& a, const Matrix& b) {
  return a.rows <= 4 && a.columns >= 16 && !a.transposed && b.transposed;
}

// Computes c as gemm_serial() does; options.leading_c must be set.
void gemm_few_rows(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options);

}  // namespace heed::inline HEED_REAL::kernels
