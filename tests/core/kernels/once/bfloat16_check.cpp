#include "bfloat16_check.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/precision.h"
#include "core/values.h"

namespace heed::inline HEED_REAL::testing {

std::vector<const TileKernels*> runnable_kernels() {
  std::vector<const TileKernels*> all{&software_tiles};
#ifdef __x86_64__
  if (kernels::tile_kernels() == &kernels::amx_kernels) all.push_back(&kernels::amx_kernels);
  if (kernels::has_avx512_bfloat16())
    all.push_back(&kernels::avx512_kernels);
  else
    MESSAGE("AVX512_BF16 is not tested: this processor does not have it");
#endif
  return all;
}

Product::Product(Draw& draw, int64_t m, int64_t n, int64_t k)
    : a(m, k, draw.below(2) != 0, draw.below(2) * 3),
      b(k, n, draw.below(2) != 0, draw.below(2) * 5),
      c(m, n, false, draw.below(2) * 2) {
  a.fill(draw);
  b.fill(draw);
  if (draw.below(2)) scale = draw.wide();
  accumulate = draw.below(2) != 0;
  if (accumulate) c.fill(draw);
  if (draw.below(2))
    for (int64_t j = 0; j < n; ++j) bias.push_back(draw());
}

TestMatrix Product::on(const TileKernels& tiles, Precision precision) const {
  TestMatrix result = c;
  gemm_on_tiles(tiles, a.matrix(), b.matrix(), result.to(accumulate), options(), precision);
  return result;
}

TestMatrix Product::highest() const {
  TestMatrix result = c;
  gemm_serial(a.matrix(), b.matrix(), result.to(accumulate), Precision::highest, options());
  return result;
}

namespace {

// Rounds x to the nearest bfloat16.
double to_bfloat16(double x) {
  if (x == 0) return 0;
  const double step = std::ldexp(1.0, std::ilogb(x) - 7);
  return std::nearbyint(x / step) * step;
}

// The terms of element (i, j) of a · b: their sum, the sum of their sizes, and that of their
// squares.
struct Sum {
  double value = 0, size = 0, squares = 0;
  Sum(const Product& p, int64_t i, int64_t j, bool rounded) {
    for (int64_t k = 0; k < p.a.columns; ++k) {
      const double a = p.a.at(i, k), b = p.b.at(k, j);
      const double term = rounded ? to_bfloat16(a) * to_bfloat16(b) : a * b;
      value += term;
      size += std::fabs(term);
      squares += term * term;
    }
  }
};

}  // namespace

double worst_error(const Product& p, const TestMatrix& got, double of_terms, bool rounded) {
  constexpr double summation = 1e-6, float_rounding = 0x1p-22;
  double worst = 0;
  for (int64_t i = 0; i < p.c.rows; ++i)
    for (int64_t j = 0; j < p.c.columns; ++j) {
      const Sum sum(p, i, j, rounded);
      const double before = p.accumulate ? p.c.at(i, j) : 0;
      const double bias = p.bias.empty() ? 0 : p.bias[static_cast<size_t>(j)];
      const double error = std::fabs(got.at(i, j) - (p.scale * sum.value + bias + before));
      const double bound = of_terms * std::sqrt(sum.squares) + summation * sum.size;
      const double rounding = float_rounding * (std::fabs(before) + std::fabs(bias));
      worst = worse(worst, error / (std::fabs(p.scale) * bound + rounding));
    }
  return worst;
}

void check_product(const TileKernels& tiles, const Product& p) {
  INFO("m, n, k = ", p.c.rows, ", ", p.c.columns, ", ", p.a.columns);
  INFO("transposed: ", p.a.transposed, ", ", p.b.transposed, "; accumulates: ", p.accumulate);
  CHECK(worst_error(p, p.on(tiles, Precision::high), 0x1p-15) <= 1);
  CHECK(worst_error(p, p.on(tiles, Precision::medium), 0, true) <= 1);
}

void check_products(const TileKernels& tiles, uint64_t seed, int count, int64_t size) {
  Draw draw(seed);
  for (int i = 0; i < count; ++i) {
    const auto side = [&] { return 1 + draw.below(draw.below(2) ? size : 34); };
    const int64_t m = side(), n = side(), k = side();
    check_product(tiles, Product(draw, m, n, k));
  }
}

}  // namespace heed::inline HEED_REAL::testing
