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

// All rows of column j of c.
template <int rows>
void multiply_column(const Product& product, int64_t j) {
  const auto& [a, b, c, options] = product;
  const real *const w = b.data + j * b.leading, *x[rows];
  for (int i = 0; i < rows; ++i) x[i] = a.data + i * a.leading;
  Vector total[rows]{};
  for_each_vector(a.columns, [&](int64_t p, auto part) {
    const Vector weights = part.load(w + p);
    for (int i = 0; i < rows; ++i) total[i] = fma(part.load(x[i] + p), weights, total[i]);
  });
  for (int i = 0; i < rows; ++i) {
    real& to = c.data[i * options.leading_c + j];
    const real before = c.accumulate ? to : real{0};
    to = options.scale * sum(total[i]) + (options.bias ? options.bias[j] : real{0}) + before;
  }
}

// One column after the other, so that memory is read from one end to the other: faster than several
// columns at once, whose rows of b the processor does not fetch ahead as well.
template <int rows>
void multiply_rows(const Product& product) {
  for (int64_t j = 0; j < product.b.columns; ++j) multiply_column<rows>(product, j);
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
