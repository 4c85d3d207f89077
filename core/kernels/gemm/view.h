// Matrix products of views, for kernels that multiply parts of matrices or do more with a result:
//
//   c[i, j] = scale · Σₚ a[i, p] b[p, j] + bias[j]  (+ c[i, j])      a (m, k), b (k, n), c (m, n)
//
// In the precisions `high` and `medium`, gemm_bfloat16() computes a product that is large enough,
// on AMX or AVX-512 (bfloat16/bfloat16.h). For all others gemm_parallel() divides c into a grid of
// blocks, one for each thread, and computes each block with one of three single-threaded kernels:
//
//   gemm_tiled      gemm/tiled.cpp       packed panels and a register-blocked micro-kernel: most
//   gemm_few_rows   gemm/few_rows.cpp    at most four rows, as in generation
//   gemm_blas       gemm/blas.cpp        long sums where one side of c is nearly a vector: OpenBLAS
#pragma once

#include <cstdint>

#include "core/kernels/gemm/gemm.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

// A part of a matrix. Element (i, j) is data[i · leading + j], or data[j · leading + i] if
// transposed; `leading` is the leading dimension of BLAS.
//
// The right operand of a product in `medium` may be packed ahead (bfloat16/bfloat16.h). Then `data`
// is null, and the matrix has no transpose and no blocks.
struct MatrixView {
  const real* data;
  int64_t rows, columns;
  int64_t leading;
  bool transposed = false;
  const uint32_t* packed = nullptr;

  MatrixView(const real* data_, int64_t rows_, int64_t columns_)
      : MatrixView(data_, rows_, columns_, columns_) {}
  MatrixView(const Matrix& m)
      : data(m.data),
        rows(m.rows),
        columns(m.columns),
        leading(m.transposed ? m.rows : m.columns),
        transposed(m.transposed) {}
  MatrixView(const real* data_, int64_t rows_, int64_t columns_, int64_t leading_)
      : data(data_), rows(rows_), columns(columns_), leading(leading_) {}
  static MatrixView packed_ahead(const uint32_t* panels, int64_t rows, int64_t columns) {
    MatrixView m(nullptr, rows, columns);
    m.packed = panels;
    return m;
  }
  // The transpose: the same memory, read the other way.
  MatrixView t() const {
    MatrixView m(data, columns, rows, leading);
    m.transposed = !transposed;
    return m;
  }
  // Rows [i, i + height) and columns [j, j + width).
  MatrixView block(int64_t i, int64_t height, int64_t j, int64_t width) const {
    MatrixView m = *this;
    m.data += transposed ? j * leading + i : i * leading + j;
    m.rows = height;
    m.columns = width;
    return m;
  }
};

// A function applied to each block of c, rows [i0, i1) × columns [j0, j1), once the block is
// complete: on the thread that computed it, while it is in that thread's cache.
struct Epilogue {
  void (*run)(const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) = nullptr;
  const void* context = nullptr;
  int64_t top = 0, left = 0;  // added to the row and column indices before the call

  void operator()(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    if (run) run(context, top + i0, top + i1, left + j0, left + j1);
  }
  // The epilogue of the block of c that begins at (i, j).
  Epilogue shifted(int64_t i, int64_t j) const { return {run, context, top + i, left + j}; }
};

struct GemmOptions {
  int64_t leading_c = 0;       // elements from one row of c to the next; 0: n
  real scale = 1;              // of the product a b
  const real* bias = nullptr;  // (n), added to each row of c; null: none
  Epilogue epilogue = {};

  // The options of the block of c that begins at (i, j).
  GemmOptions shifted(int64_t i, int64_t j) const {
    return {leading_c, scale, bias ? bias + j : nullptr, epilogue.shifted(i, j)};
  }
};

// Computes c on all threads, in the precision of the current scope. Throws Error if a.columns and
// b.rows differ.
void gemm_parallel(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options = {});

// Computes c on the calling thread: for use in parallel loops, whose threads do not see the scope
// and so need to be given the precision.
void gemm_serial(const MatrixView& a, const MatrixView& b, Destination c, Precision precision,
                 const GemmOptions& options = {});

// Describes the BLAS library, such as "OpenBLAS 0.3.21 …, OpenMP build".
const char* blas_backend();

}  // namespace heed::inline HEED_REAL::kernels
