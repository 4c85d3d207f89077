// The matrix product (GEMM), which linear layers and attention are made of:
//
//   c[i, j] = Σₚ a[i, p] b[p, j] + bias[j]  (+ c[i, j])      a (m, k), b (k, n), c (m, n)
//
// The order of each sum depends only on the shapes, so results have the same bits for any number of
// threads.
#pragma once

#include <cstdint>

#include "core/kernels/axes.h"
#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// A rows × columns matrix. Element (i, j) is data[i · columns + j]; of a transpose, it is
// data[j · rows + i].
struct Matrix {
  const real* data;
  int64_t rows, columns;
  bool transposed = false;

  // The transpose: the same memory, read the other way.
  Matrix t() const { return {data, columns, rows, !transposed}; }
};

// Computes c; a fast kernel in the precision of the current scope. `bias` may be null. Throws Error
// if a.columns and b.rows differ.
void gemm(const Matrix& a, const Matrix& b, Destination c, const real* bias = nullptr);

// Computes the matrices c[i] = a[m] b[n] for each index i of a loop over two arrays of matrices,
// where [m, n] = axes.offsets(i). a[0] and b[0] begin at a.data and b.data. All are contiguous.
void gemm_batched(const Axes<2>& axes, const Matrix& a, const Matrix& b, Destination c);

}  // namespace heed::inline HEED_REAL::kernels
