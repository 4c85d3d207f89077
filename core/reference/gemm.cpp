// Matrix product.
//
//   c[i, j] = scale · Σₚ a[i, p] b[p, j] + bias[j]  (+ c[i, j])      a (m, k), b (k, n), c (m, n)
#include "core/kernels/gemm/gemm.h"

#include "core/check.h"
#include "core/observer.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

double element(const Matrix& m, int64_t i, int64_t j) {
  return m.data[m.transposed ? j * m.leading + i : i * m.leading + j];
}

void multiply(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options) {
  check(a.columns == b.rows, "gemm: a has {} columns, but b has {} rows", a.columns, b.rows);
  const int64_t rows = a.rows, columns = b.columns, depth = a.columns;
  const int64_t leading_c = options.leading_c ? options.leading_c : columns;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < depth; ++p) sum += element(a, i, p) * element(b, p, j);
      const double bias = options.bias ? options.bias[j] : 0;
      write(c, i * leading_c + j, options.scale * sum + bias);
    }
  options.epilogue(0, rows, 0, columns);
}

}  // namespace

void gemm(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options) {
  report_products(a.rows, b.columns, a.columns);
  if (!scope().shapes_only) multiply(a, b, c, options);
}

// There are no threads here, and every precision is `highest`.
void gemm_serial(const Matrix& a, const Matrix& b, Destination c, Precision,
                 const GemmOptions& options) {
  multiply(a, b, c, options);
}

// c[i] = a[i] b[i], i < count
void gemm_batched(int64_t count, const Matrix& a, const BatchIndex& at_a, const Matrix& b,
                  const BatchIndex& at_b, Destination c) {
  report_products(a.rows, b.columns, a.columns, count);
  for (int64_t i = 0; i < bound(count); ++i) {
    Matrix a_i = a, b_i = b;
    a_i.data += at_a(i);
    b_i.data += at_b(i);
    multiply(a_i, b_i, {c.data + i * a.rows * b.columns, c.accumulate}, {});
  }
}

const char* blas_backend() { return "none: the reference loops, slow"; }

}  // namespace heed::inline HEED_REAL::kernels
