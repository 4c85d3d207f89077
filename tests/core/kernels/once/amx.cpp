// bfloat16 matrix products on the tile instructions of the processor. On a processor with
// AVX512_BF16 but without AMX the instructions are emulated, which tests amx.cpp as it was
// compiled.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "bfloat16_check.h"
#include "core/autograd.h"
#include "core/kernels/bfloat16/tile_product.h"
#include "core/ops.h"
#include "core/precision.h"
#include "core/scope.h"
#include "emulated_amx.h"

namespace heed::inline HEED_REAL::testing {
namespace {

bool have_amx() {
#ifdef __x86_64__
  return kernels::tile_kernels() == &kernels::amx_kernels;
#else
  return false;
#endif
}

bool skipped_without_amx() {
  if (have_amx()) return false;
  MESSAGE("skipped: this processor has no AMX, or the system does not permit its use");
  return true;
}

// The number of elements that differ in any bit.
int64_t differing(const TestMatrix& x, const TestMatrix& y) {
  int64_t count = 0;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      count += std::bit_cast<uint32_t>(x.at(i, j)) != std::bit_cast<uint32_t>(y.at(i, j));
  return count;
}

#ifdef __x86_64__
TEST_CASE("amx: emulated instructions give the same bits as their definition") {
  if (have_amx()) return;  // those of the processor are tested below
  if (!EmulatedAmx::possible()) {
    MESSAGE("skipped: this processor has no AVX-512");
    return;
  }
  const EmulatedAmx here;
  Draw draw(21);
  const int64_t sides[][3] = {{1, 1, 1}, {33, 17, 45}, {64, 32, 64}, {31, 70, 600}, {300, 290, 40}};
  for (const auto& [m, n, k] : sides) {
    const Product p(draw, m, n, k);
    for (const Precision precision : {Precision::high, Precision::medium})
      CHECK(differing(p.on(kernels::amx_kernels, precision), p.on(software_tiles, precision)) == 0);
  }
  CHECK(EmulatedAmx::instructions() > 1000);
  check_products(kernels::amx_kernels, 22, 10, 70);
}
#endif

TEST_CASE("amx: products on the processor match double, and bitwise the definition") {
  if (skipped_without_amx()) return;
  const kernels::TileKernels& tiles = *kernels::tile_kernels();
  check_products(tiles, 23, 100, 130);
  Draw draw(24);
  check_product(tiles, Product(draw, 130, 70, 1100));
  check_product(tiles, Product(draw, 2100, 40, 64));
  check_product(tiles, Product(draw, 40, 2100, 64));
  int64_t elements = 0, differ = 0;
  for (int i = 0; i < 20; ++i) {
    const Product p(draw, 1 + draw.below(100), 1 + draw.below(100), 1 + draw.below(200));
    for (const Precision precision : {Precision::high, Precision::medium}) {
      differ += differing(p.on(tiles, precision), p.on(software_tiles, precision));
      elements += p.c.rows * p.c.columns;
    }
  }
  MESSAGE(differ, " of ", elements, " elements differ from the definition");
  CHECK(differ == 0);
}

// The gradient of the input of a linear layer followed by attention, with products in `precision`.
std::vector<float> gradient_in(Precision precision) {
  ScopeGuard here;
  here->precision = precision;
  Draw draw(25);
  const auto leaf = [&draw](const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(shape.size()));
    for (float& value : values) value = draw();
    Tensor t = Tensor::from(shape, values);
    t.set_requires_grad();
    return t;
  };
  Tensor x = leaf({3, 96, 64});
  const Tensor w = leaf({128, 64}), b = leaf({128}), cotangent = leaf({3, 96, 128});
  AttentionOptions causal;
  causal.mask.causal = true;
  const Tensor y = mul(linear(x, w, b), 0.125F);
  backward(sum(scaled_dot_product_attention(y, y, y, 2, causal) * cotangent));
  return {x.grad().data(), x.grad().data() + x.size()};
}

TEST_CASE("bfloat16: layers use it in forward and backward") {
  if (!kernels::tile_kernels()) {
    MESSAGE("skipped: float32 is fastest on this processor");
    return;
  }
  const std::vector<float> highest = gradient_in(Precision::highest);
  const auto error = [&highest](Precision precision) {
    const std::vector<float> got = gradient_in(precision);
    double squares = 0, all = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      squares += std::pow(double{got[i]} - highest[i], 2);
      all += std::pow(double{highest[i]}, 2);
    }
    return std::sqrt(squares / all);
  };
  const double high = error(Precision::high), medium = error(Precision::medium);
  CHECK((high > 0) == have_amx());
  CHECK(high < 1e-4);
  CHECK(medium > 1e-3);
  CHECK(medium < 0.05);
}

TEST_CASE("bfloat16: the effective precision is float32 where that is fastest") {
  const auto check_effective = [](Precision requested, bool available) {
    CHECK(effective_precision(requested) == (available ? requested : Precision::highest));
  };
  check_effective(Precision::highest, true);
  check_effective(Precision::high, have_amx());
  check_effective(Precision::medium, kernels::tile_kernels() != nullptr);
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
