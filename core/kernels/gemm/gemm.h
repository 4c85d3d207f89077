// Matrix products.
//
// A product is cut into pieces for the threads, each one single-threaded product: of
// kernels/gemm/tiled.h, or where one side is nearly a vector of kernels/gemm/few_rows.h or
// OpenBLAS. No sum is cut, and each is made in an order that the shape of the whole product
// decides: so the bits do not depend on the number of threads, and a product too small to share is
// not shared.
#pragma once

#include <array>
#include <cstdint>

#include "core/destination.h"
#include "core/scope.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// A matrix of rows × columns somewhere in memory: element (i, j) is data[i · leading + j], or
// data[j · leading + i] when transposed.
struct Matrix {
  const real* data;
  int64_t rows, columns;
  int64_t leading;
  bool transposed = false;

  Matrix(const real* data_, int64_t rows_, int64_t columns_)
      : Matrix(data_, rows_, columns_, columns_) {}
  Matrix(const real* data_, int64_t rows_, int64_t columns_, int64_t leading_)
      : data(data_), rows(rows_), columns(columns_), leading(leading_) {}
  Matrix t() const {
    Matrix m(data, columns, rows, leading);
    m.transposed = !transposed;
    return m;
  }
  // Rows [i, i + height) and columns [j, j + width).
  Matrix part(int64_t i, int64_t height, int64_t j, int64_t width) const {
    Matrix m = *this;
    m.data += transposed ? j * leading + i : i * leading + j;
    m.rows = height;
    m.columns = width;
    return m;
  }
};

// What becomes of a block of c, rows [i0, i1) × columns [j0, j1), once its product is there: on the
// thread that made it, which has it in its cache.
struct Epilogue {
  void (*run)(const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) = nullptr;
  const void* context = nullptr;
  int64_t top = 0, left = 0;  // where the rows and columns begin that are told by their numbers

  void operator()(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    if (run) run(context, top + i0, top + i1, left + j0, left + j1);
  }
  // The same for a piece of c that begins at (i, j).
  Epilogue from(int64_t i, int64_t j) const { return {run, context, top + i, left + j}; }
};

// c = scale · a b + bias (+ c where it accumulates), the bias (null for none) one number a column.
// c is dense with `leading_c` numbers from row to row (0: its columns). Runs on all threads, in the
// precision of the scope.
void gemm(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c = 0, real scale = 1,
          const real* bias = nullptr, Epilogue finish = {});

// The same on the calling thread alone: for use inside parallel regions, where the precision of the
// scope is not known and must be handed over.
void gemm_serial(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c = 0,
                 real scale = 1, const real* bias = nullptr,
                 Precision precision = Precision::highest);

// Where matrix i of a broadcast batch begins: the batch axes of the operand against those of the
// result.
class BatchIndex {
 public:
  // `numbers`: how many numbers one matrix of the operand holds.
  BatchIndex(const Shape& batch, const Shape& operand, int64_t numbers);
  int64_t operator()(int64_t i) const;

 private:
  int rank_;
  std::array<int64_t, Shape::max_rank> lengths_{}, strides_{};
};

// Matrix i of a starts at_a(i) numbers after the first; the results lie one behind the other.
void gemm_batched(int64_t count, const Matrix& a, const BatchIndex& at_a, const Matrix& b,
                  const BatchIndex& at_b, Destination c);

// "OpenBLAS 0.3.21 (OpenMP, SkylakeX)".
const char* blas_backend();

}  // namespace heed::inline HEED_REAL::kernels
