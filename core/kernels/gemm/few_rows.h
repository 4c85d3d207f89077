// The product of a few rows with a matrix of weights, for one thread: what generating a token
// costs.
//
//   c[i, j] = scale · Σₚ a[i, p] b[j, p] + bias[j]      i < 4, both operands dense along p
//
// There is too little to do with each weight to copy it first, as the other kernels do: it is read
// once, as it lies, and multiplied with every row. Each number of c is one sum, whose order does
// not depend on how many rows there are.
#pragma once

#include "core/kernels/gemm/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// Whether gemm_few_rows() is for this product, and the quicker way: by measurement up to three
// times for one row, and from five rows on no more; sums shorter than a vector are not for it.
inline bool has_few_rows(const Matrix& a, const Matrix& b) {
  return a.rows <= 4 && a.columns >= 16 && !a.transposed && b.transposed;
}

// As gemm_serial, of whose arguments it makes no defaults; b is a transpose, (p, j).
void gemm_few_rows(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                   const real* bias, const Epilogue& finish);

}  // namespace heed::inline HEED_REAL::kernels
