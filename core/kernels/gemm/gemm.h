// General matrix product (GEMM):
//
//   c[i, j] = scale · Σₚ a[i, p] b[p, j] + bias[j]  (+ c[i, j])      a (m, k), b (k, n), c (m, n)
//
// gemm() divides c into a grid of blocks, one for each thread, and computes each block with one of
// four single-threaded kernels:
//
//   gemm_tiled      gemm/tiled.cpp         packed panels and a register-blocked micro-kernel: most
//   gemm_few_rows   gemm/few_rows.cpp      at most four rows, as in generation
//   OpenBLAS        gemm/blas.cpp          long sums where one side of c is nearly a vector
//   gemm_bfloat16   bfloat16/bfloat16.h    precision `high` or `medium`, by AMX or AVX-512
//
// The sum over p is never divided among threads, and its order depends only on the shapes, so
// results have the same bits for any number of threads.
#pragma once

#include <array>
#include <cstdint>

#include "core/destination.h"
#include "core/scope.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// A view of a rows × columns matrix. Element (i, j) is data[i · leading + j], or
// data[j · leading + i] if transposed; `leading` is the leading dimension of BLAS.
//
// The right operand of a product in `medium` may be packed ahead (bfloat16/bfloat16.h). Then `data`
// is null, and the matrix has no transpose and no blocks.
struct Matrix {
  const real* data;
  int64_t rows, columns;
  int64_t leading;
  bool transposed = false;
  const uint32_t* packed = nullptr;

  Matrix(const real* data_, int64_t rows_, int64_t columns_)
      : Matrix(data_, rows_, columns_, columns_) {}
  Matrix(const real* data_, int64_t rows_, int64_t columns_, int64_t leading_)
      : data(data_), rows(rows_), columns(columns_), leading(leading_) {}
  static Matrix packed_ahead(const uint32_t* panels, int64_t rows, int64_t columns) {
    Matrix m(nullptr, rows, columns);
    m.packed = panels;
    return m;
  }
  // The transpose: the same memory, read the other way.
  Matrix t() const {
    Matrix m(data, columns, rows, leading);
    m.transposed = !transposed;
    return m;
  }
  // Rows [i, i + height) and columns [j, j + width).
  Matrix block(int64_t i, int64_t height, int64_t j, int64_t width) const {
    Matrix m = *this;
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
void gemm(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options = {});

// Computes c on the calling thread: for use in parallel loops, whose threads do not see the scope
// and so need to be given the precision.
void gemm_serial(const Matrix& a, const Matrix& b, Destination c, Precision precision,
                 const GemmOptions& options = {});

// The offset of matrix i in an operand whose batch axes broadcast to those of the result.
class BatchIndex {
 public:
  // `batch`: the batch axes of the result; `operand`: those of the operand, whose matrices hold
  // `matrix_size` elements each.
  BatchIndex(const Shape& batch, const Shape& operand, int64_t matrix_size) : rank_(batch.rank()) {
    int64_t stride = matrix_size;
    for (int a = rank_ - 1; a >= 0; --a) {
      const int own_axis = a - (rank_ - operand.rank());  // axes are aligned at the last one
      const int64_t own_length = own_axis < 0 ? 1 : operand[own_axis];
      lengths_[static_cast<size_t>(a)] = batch[a];
      strides_[static_cast<size_t>(a)] = own_length == 1 ? 0 : stride;
      stride *= own_length;
    }
  }
  int64_t operator()(int64_t i) const {
    int64_t offset = 0;
    for (auto a = static_cast<size_t>(rank_); a-- > 0; i /= lengths_[a])
      offset += i % lengths_[a] * strides_[a];
    return offset;
  }

 private:
  int rank_;
  std::array<int64_t, Shape::max_rank> lengths_{}, strides_{};
};

// Computes c[i] = a[i] b[i], i < count. Matrix i of a begins at a.data + at_a(i), that of b
// likewise; the matrices of c are contiguous.
void gemm_batched(int64_t count, const Matrix& a, const BatchIndex& at_a, const Matrix& b,
                  const BatchIndex& at_b, Destination c);

// Describes the BLAS library, such as "OpenBLAS 0.3.21 …, OpenMP build".
const char* blas_backend();

}  // namespace heed::inline HEED_REAL::kernels
