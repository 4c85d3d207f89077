// bfloat16 matrix products on tile instructions in software, which run on any machine: everything
// but the instructions, against double and against float32.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "allocations.h"
#include "bfloat16_check.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "core/values.h"

namespace heed::inline HEED_REAL::testing {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

TEST_CASE("bfloat16: the definition of the instruction") {
  Tile a{}, b{}, c{};
  const auto pair = [](float first, float second) {
    return std::bit_cast<uint32_t>(first) >> 16 | (std::bit_cast<uint32_t>(second) & 0xffff0000);
  };
  a[2][5] = pair(3, -2);
  b[5][7] = pair(10, 4);
  c[2][7] = std::bit_cast<uint32_t>(100.0F);
  a[0][0] = pair(0x1p-100F, 0x1p-127F);  // the second counts as zero
  b[0][0] = pair(0x1p-27F, 0x1p100F);    // and so does the first product
  multiply_tiles(c, a, b);
  CHECK(std::bit_cast<float>(c[2][7]) == 122);
  CHECK(c[0][0] == 0);
  CHECK(c[7][2] == 0);
}

TEST_CASE("bfloat16: products of any shape match double") {
  for (const TileKernels* tiles : runnable_kernels()) {
    check_products(*tiles, 1, 60, 100);
    Draw draw(2);
    check_product(*tiles, Product(draw, 5, 7, 1100));  // three slices of terms
    check_product(*tiles, Product(draw, 2100, 3, 33));
    check_product(*tiles, Product(draw, 3, 2100, 33));
  }
}

TEST_CASE("bfloat16: the error of high is bounded where single terms dominate a sum") {
  Draw draw(10);
  for (int i = 0; i < 10; ++i) {
    Product p(draw, 1 + draw.below(60), 1 + draw.below(60), 1 + draw.below(60));
    p.a.fill([&] { return draw.wide(); });
    p.b.fill([&] { return draw.wide(); });
    for (const TileKernels* tiles : runnable_kernels())
      CHECK(worst_error(p, p.on(*tiles, Precision::high), 0x1p-15) <= 1);
  }
}

TEST_CASE("bfloat16: the error bounds are tight, and medium is less precise than high") {
  Draw draw(3);
  Product p(draw, 40, 40, 64);
  for (const TileKernels* tiles : runnable_kernels()) {
    CHECK(worst_error(p, p.on(*tiles, Precision::high), 0) > 1);
    CHECK(worst_error(p, p.on(*tiles, Precision::medium), 0x1p-12) > 1);
  }
}

TEST_CASE("bfloat16: the padding between the rows of the result is unchanged") {
  Draw draw(4);
  Product p(draw, 35, 37, 40);
  p.c = TestMatrix(35, 37, false, 4).fill([] { return 1.0F; });
  const TestMatrix result = p.on(software_tiles, Precision::high);
  for (int64_t i = 0; i < 35; ++i)
    for (int64_t j = 37; j < 41; ++j) CHECK(std::isnan(result.at(i, j)));
}

TEST_CASE("bfloat16: an empty sum is zero") {
  Draw draw(5);
  const TestMatrix none(3, 0), nothing(0, 2);
  TestMatrix c(3, 2);
  gemm_on_tiles(software_tiles, none.matrix(), nothing.matrix(), c.to(false), {.leading_c = 2},
                Precision::high);
  CHECK(c.values == std::vector<float>(6, 0));
}

// Returns whether both are NaN, or the same infinity, or finite.
bool same_kind(float x, float y) {
  return std::isnan(x) ? std::isnan(y) : std::isinf(x) ? x == y : std::isfinite(y);
}

TEST_CASE("bfloat16: infinities, NaN and overflow match float32") {
  const float all_ones = std::bit_cast<float>(0x7fffffff),
              low_one = std::bit_cast<float>(0x7f800001);
  const float cases[][2] = {{infinity, 1},         {infinity, 0},      {-infinity, 2},
                            {infinity, infinity},  {nan, 1},           {all_ones, 1},
                            {-all_ones, 1},        {low_one, 1},       {largest_float, 1},
                            {largest_float, 0.5F}, {largest_float, 2}, {-largest_float, 1},
                            {1e38F, 1e38F},        {1e38F, -1e38F},    {1.3e19F, 2.7e19F},
                            {infinity, 1e-40F},    {1e-40F, 1e38F},    {1.003F, 3.39e38F}};
  for (const auto& values : cases) {
    const float x = values[0], y = values[1];
    for (const Precision precision : {Precision::high, Precision::medium}) {
      CAPTURE(x);
      CAPTURE(y);
      Draw draw(6);
      Product p(draw, 40, 40, 40);
      p.a.fill(draw).at(33, 20) = x;
      p.b.fill(draw).at(20, 5) = y;
      const TestMatrix expected = p.highest();
      for (const TileKernels* tiles : runnable_kernels()) {
        const TestMatrix got = p.on(*tiles, precision);
        for (int64_t i = 0; i < 40; ++i)
          for (int64_t j = 0; j < 40; ++j) REQUIRE(same_kind(expected.at(i, j), got.at(i, j)));
        if (std::isfinite(expected.at(33, 5)))
          CHECK(got.at(33, 5) == doctest::Approx(expected.at(33, 5)).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("bfloat16: values below 2^-126 count as zero, larger ones do not") {
  Product p = [] {
    Draw draw(7);
    return Product(draw, 16, 16, 32);
  }();
  p.c = TestMatrix(16, 16);
  p.scale = 1;
  p.accumulate = false;
  p.bias.clear();
  p.b.fill([] { return 1.0F; });
  for (int exponent = -140; exponent < -90; ++exponent) {
    p.a.fill([&] { return std::ldexp(1.01F, exponent); });
    const double exact = 32 * double{p.a.at(0, 0)};
    for (const TileKernels* tiles : runnable_kernels()) {
      const double got = p.on(*tiles, Precision::high).at(3, 4);
      CAPTURE(exponent);
      CHECK(std::fabs(got - exact) <= 1e-5 * exact + 32 * 0x1p-126);
      if (exponent >= -125) CHECK(std::fabs(got - exact) <= 0x1p-8 * exact);
    }
  }
}

TEST_CASE("bfloat16: the same bits for any number of threads and inside a parallel region") {
  Draw draw(8);
  const Product p(draw, 300, 290, 70);
  const int threads = thread_count();
  set_thread_count(1);
  const TestMatrix one = p.on(software_tiles, Precision::high);
  set_thread_count(3);
  const TestMatrix three = p.on(software_tiles, Precision::high);
  TestMatrix inside[2] = {one, one};
  parallel_for(2, 1,
               [&](int64_t i, int64_t) { inside[i] = p.on(software_tiles, Precision::high); });
  set_thread_count(threads);
  const auto same_bits = [&one](const TestMatrix& other) {
    return std::memcmp(one.values.data(), other.values.data(), one.values.size() * 4) == 0;
  };
  CHECK(same_bits(three));
  CHECK(same_bits(inside[0]));
  CHECK(same_bits(inside[1]));
}

// p with its right operand packed ahead.
TestMatrix packed_product(const TileKernels& tiles, const Product& p) {
  std::vector<uint32_t> panels(static_cast<size_t>(kernels::packed_words(p.b.rows, p.b.columns)) +
                               16);
  uint32_t* aligned = panels.data();  // to 64 bytes, as the pool's memory is
  while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
  pack_ahead(tiles, p.b.matrix(), p.b.rows, aligned);
  TestMatrix result = p.c;
  gemm_on_tiles(tiles, p.a.matrix(), MatrixView::packed_ahead(aligned, p.b.rows, p.b.columns),
                result.to(p.accumulate), p.options(), Precision::medium);
  return result;
}

TEST_CASE("bfloat16: an operand packed ahead gives the same bits") {
  Draw draw(10);
  const int64_t sides[][3] = {{1, 1, 1},      {33, 17, 45},   {64, 32, 512},
                              {40, 70, 1100}, {17, 2100, 33}, {40, 2090, 520}};
  for (const TileKernels* tiles : runnable_kernels())
    for (const auto& [m, n, k] : sides) {
      if (m * n * k > 2'000'000 && tiles == &software_tiles) continue;  // slow
      const Product p(draw, m, n, k);
      const TestMatrix expected = p.on(*tiles, Precision::medium), got = packed_product(*tiles, p);
      CHECK(std::memcmp(got.values.data(), expected.values.data(), got.values.size() * 4) == 0);
    }
}

TEST_CASE("bfloat16: an operand packed ahead keeps infinities and NaN") {
  for (const float special : {infinity, -infinity, nan, std::bit_cast<float>(0x7fffffff)}) {
    Draw draw(11);
    Product p(draw, 40, 70, 45);
    p.b.at(44, 69) = special;
    const TestMatrix expected = p.highest();
    for (const TileKernels* tiles : runnable_kernels()) {
      const TestMatrix got = packed_product(*tiles, p);
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 70; ++j) {
          REQUIRE(same_kind(expected.at(i, j), got.at(i, j)));
          if (std::isfinite(expected.at(i, j)))
            REQUIRE(std::fabs(got.at(i, j) - expected.at(i, j)) < 0.5 * std::fabs(p.scale) + 0.1);
        }
    }
  }
}

TEST_CASE("bfloat16: the packing buffer is reused, so a second product allocates nothing") {
  if (!allocations_are_counted) return;
  Draw draw(9);
  Product p(draw, 65, 70, 40);
  const auto multiply = [&] {
    const int64_t before = allocations();
    gemm_on_tiles(software_tiles, p.a.matrix(), p.b.matrix(), p.c.to(false),
                  {.leading_c = p.c.leading}, Precision::high);
    return allocations() - before;
  };
  multiply();
  CHECK(multiply() == 0);
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
