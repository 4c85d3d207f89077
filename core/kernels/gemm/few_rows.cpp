// Product of at most four rows with a transposed matrix, for one thread: what generating one token
// costs.
//
//   c[i, j] = scale · Σₚ a[i, p] b[j, p] + bias[j]  (+ c[i, j])      i < 4
//
// Both operands are contiguous along p, so each element of c is a dot product of two rows. Each
// weight is read once, in place, and multiplied by every row of a: with so few rows, packing would
// cost more than the product. The order of a sum does not depend on the number of rows.
#include "core/kernels/gemm/serial.h"
#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

struct Product {
  const MatrixView &a, &b;
  Destination c;
  const GemmOptions& options;
};

// All rows of columns [j, j + columns) of c.
template <int rows, int columns>
void multiply_columns(const Product& product, int64_t j) {
  const auto& [a, b, c, options] = product;
  const real *x[rows], *w[columns];
  for (int i = 0; i < rows; ++i) x[i] = a.data + i * a.leading;
  for (int q = 0; q < columns; ++q) w[q] = b.data + (j + q) * b.leading;
  Vector total[rows][columns]{};
  for_each_vector(a.columns, [&](int64_t p, auto part) {
    Vector weights[columns];
    for (int q = 0; q < columns; ++q) weights[q] = part.load(w[q] + p);
    for (int i = 0; i < rows; ++i) {
      const Vector values = part.load(x[i] + p);
      for (int q = 0; q < columns; ++q) total[i][q] += values * weights[q];
    }
  });
  for (int i = 0; i < rows; ++i)
    for (int q = 0; q < columns; ++q) {
      real& to = c.data[i * options.leading_c + j + q];
      const real before = c.accumulate ? to : real{0};
      to = options.scale * sum(total[i][q]) + (options.bias ? options.bias[j + q] : real{0}) +
           before;
    }
}

template <int rows>
void multiply_rows(const Product& product) {
  constexpr int columns = vector_registers / 8;  // as many sums at once as registers hold
  const int64_t n = product.b.columns;
  int64_t j = 0;
  for (; j + columns <= n; j += columns) multiply_columns<rows, columns>(product, j);
  for (; j < n; ++j) multiply_columns<rows, 1>(product, j);
}

}  // namespace

void gemm_few_rows(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options) {
  static constexpr void (*kernels[])(const Product&) = {multiply_rows<1>, multiply_rows<2>,
                                                        multiply_rows<3>, multiply_rows<4>};
  kernels[a.rows - 1]({a, b, c, options});
  options.epilogue(0, a.rows, 0, b.columns);
}

}  // namespace heed::inline HEED_REAL::kernels
