#include "core/kernels/gemm/few_rows.h"

#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// A product and where it goes.
struct Product {
  const Matrix &a, &b;
  Destination c;
  int64_t leading_c;
  real scale;
  const real* bias;
};

// All rows with columns [j, j + columns).
template <int rows, int columns>
void few_columns(const Product& product, int64_t j) {
  const int64_t k = product.a.columns;
  const real *x[rows], *w[columns];
  for (int i = 0; i < rows; ++i) x[i] = product.a.data + i * product.a.leading;
  for (int q = 0; q < columns; ++q) w[q] = product.b.data + (j + q) * product.b.leading;
  Vector total[rows][columns]{};
  for_each_vector(k, [&](int64_t p, auto at) {
    Vector weights[columns];
    for (int q = 0; q < columns; ++q) weights[q] = at.load(w[q] + p);
    for (int i = 0; i < rows; ++i) {
      const Vector numbers = at.load(x[i] + p);
      for (int q = 0; q < columns; ++q) total[i][q] += numbers * weights[q];
    }
  });
  for (int i = 0; i < rows; ++i)
    for (int q = 0; q < columns; ++q) {
      real& to = product.c.data[i * product.leading_c + j + q];
      const real before = product.c.accumulate ? to : real{0};
      to = product.scale * sum(total[i][q]) + (product.bias ? product.bias[j + q] : real{0}) +
           before;
    }
}

template <int rows>
void all_columns(const Product& product) {
  constexpr int columns = vector_registers / 8;  // as many sums at once as registers hold
  const int64_t n = product.b.columns;
  int64_t j = 0;
  for (; j + columns <= n; j += columns) few_columns<rows, columns>(product, j);
  for (; j < n; ++j) few_columns<rows, 1>(product, j);
}

}  // namespace

void gemm_few_rows(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                   const real* bias, const Epilogue& finish) {
  static constexpr void (*of_rows[])(const Product&) = {all_columns<1>, all_columns<2>,
                                                        all_columns<3>, all_columns<4>};
  of_rows[a.rows - 1]({a, b, c, leading_c, scale, bias});
  finish(0, a.rows, 0, b.columns);
}

}  // namespace heed::inline HEED_REAL::kernels
