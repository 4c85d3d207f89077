// Matrix product, with the sums in double.
//
//   c[i, j] = Σₚ a[i, p] b[p, j] + bias[j]  (+ c[i, j])      a (m, k), b (k, n), c (m, n)
#include "core/kernels/gemm/gemm.h"

#include <vector>

#include "core/check.h"
#include "core/observer.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

static double element(const Matrix& m, int64_t i, int64_t j) {
  return m.data[m.transposed ? j * m.rows + i : i * m.columns + j];
}

// Computes one row of c after the other, in double. The inner loops are contiguous, so compilers
// vectorise them.
static void multiply(const Matrix& a, const Matrix& b, Destination c, const real* bias) {
  check(a.columns == b.rows, "gemm: a has {} columns, but b has {} rows", a.columns, b.rows);
  const int64_t rows = a.rows, columns = b.columns, depth = a.columns;
  std::vector<double> b_rows(static_cast<size_t>(depth * columns));  // b in double, row by row
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t j = 0; j < columns; ++j)
      b_rows[static_cast<size_t>(p * columns + j)] = element(b, p, j);
  std::vector<double> c_row(static_cast<size_t>(columns));
  for (int64_t i = 0; i < rows; ++i) {
    std::fill(c_row.begin(), c_row.end(), 0.0);
    double* const sums = c_row.data();
    for (int64_t p = 0; p < depth; ++p) {
      const double a_ip = element(a, i, p), *const b_p = b_rows.data() + p * columns;
      for (int64_t j = 0; j < columns; ++j) sums[j] += a_ip * b_p[j];
    }
    for (int64_t j = 0; j < columns; ++j) write(c, i * columns + j, sums[j] + (bias ? bias[j] : 0));
  }
}

void gemm(const Matrix& a, const Matrix& b, Destination c, const real* bias) {
  report(Work::multiplications, a.rows, b.columns, a.columns);
  if (!scope().shapes_only) multiply(a, b, c, bias);
}

void gemm_batched(const Axes<2>& axes, const Matrix& a, const Matrix& b, Destination c) {
  const int64_t count = axes.size();
  report(Work::multiplications, a.rows, b.columns, a.columns, count);
  for (int64_t i = 0; i < bound(count); ++i) {
    const auto [m, n] = axes.offsets(i);
    multiply({a.data + m * a.rows * a.columns, a.rows, a.columns, a.transposed},
             {b.data + n * b.rows * b.columns, b.rows, b.columns, b.transposed},
             {c.data + i * a.rows * b.columns, c.accumulate}, nullptr);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
