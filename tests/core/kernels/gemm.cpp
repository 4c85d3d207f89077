// The matrix product kernels against three nested loops in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/kernels/gemm/serial.h"
#include "core/kernels/gemm/view.h"
#include "core/kernels/simd/vector.h"
#include "core/parallel.h"
#include "core/precision.h"
#include "core/test_matrix.h"
#include "core/values.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::GemmOptions;
using kernels::MatrixView;
using testing::Draw;
using testing::TestMatrix;

// A random matrix without padding between its rows, or with some.
TestMatrix dense(int64_t rows, int64_t columns, bool transposed, Draw& draw, int64_t padding = 0) {
  return TestMatrix(rows, columns, transposed, padding).fill(draw);
}
TestMatrix padded(int64_t rows, int64_t columns, bool transposed, Draw& draw) {
  return dense(rows, columns, transposed, draw, draw.below(4));
}

// Checks c = scale · a b + bias (+ c), with scale, bias, accumulation and padding chosen at random.
template <class Product>
void check_product(const TestMatrix& a, const TestMatrix& b, Draw& draw, Product product) {
  const int64_t m = a.rows, n = b.columns, k = a.columns;
  const bool accumulate = draw.flip(), biased = draw.flip();
  TestMatrix c(m, n, false, draw.below(4));
  if (accumulate) c.fill(draw);
  const TestMatrix before = c, bias = dense(1, n, false, draw);
  const real scale = draw.flip() ? real{1} : real{-0.75};
  product(a.matrix(), b.matrix(), c.to(accumulate),
          GemmOptions{c.leading, scale, biased ? bias.values.data() : nullptr});
  INFO(std::string(fmt::format("{} × {} × {}, a {}, b {}", m, n, k, a.transposed, b.transposed)));
  double worst = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 1;
      for (int64_t p = 0; p < k; ++p) {
        const double term = double{a.at(i, p)} * double{b.at(p, j)};
        sum += term;
        size += std::fabs(term);
      }
      sum = scale * sum + (biased ? bias.at(0, j) : 0) + (accumulate ? before.at(i, j) : 0);
      worst = worse(worst, std::fabs(c.at(i, j) - sum) / size);
    }
  CHECK(worst <= 4 * std::numeric_limits<real>::epsilon());
  for (int64_t i = 0; i < m; ++i)  // the padding of c is unchanged
    for (int64_t j = n; j < c.leading; ++j)
      CHECK(std::isnan(c.values[static_cast<size_t>(i * c.leading + j)]));
}

template <class Product>
void check_product(int64_t m, int64_t n, int64_t k, Draw& draw, Product product) {
  const bool transposed_a = draw.flip(), transposed_b = draw.flip();
  const TestMatrix a = padded(m, k, transposed_a, draw), b = padded(k, n, transposed_b, draw);
  check_product(a, b, draw, product);
}

constexpr auto tiled = [](const auto&... product) { kernels::gemm_tiled(product...); };
constexpr auto few_rows = [](const auto&... product) { kernels::gemm_few_rows(product...); };

TEST_CASE("gemm_tiled: every tile shape and layout") {
  Draw draw(7);
  for (int64_t m = 1; m <= 30; ++m)
    for (const int64_t n : {1, 7, 8, 15, 16, 17, 31, 32, 33, 40, 48, 63, 64, 65, 100})
      check_product(m, n, draw.up_to(40), draw, tiled);
  for (int i = 0; i < 60; ++i)
    check_product(draw.up_to(130), draw.up_to(90), draw.up_to(600), draw, tiled);
}

// 65 rows are more than a panel holds, so gemm_tiled() packs the weights. With fewer, it reads them
// in place.
TEST_CASE("gemm_tiled: a few rows have the same bits as among others") {
  Draw draw(7);
  for (int i = 0; i < 30; ++i) {
    const int64_t m = draw.up_to(64), n = draw.up_to(1200), k = 256 + draw.below(300);
    const TestMatrix a = padded(65, k, false, draw), b = padded(k, n, true, draw);
    const TestMatrix bias = dense(1, n, false, draw);
    TestMatrix few(m, n, false, draw.below(4)), all(65, n), visits(m, n);
    visits.fill([] { return real{0}; });
    TestMatrix* const counted = &visits;
    const kernels::Epilogue count{
        [](const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
          auto& to = **static_cast<TestMatrix* const*>(context);
          for (int64_t row = i0; row < i1; ++row)
            for (int64_t column = j0; column < j1; ++column) ++to.at(row, column);
        },
        &counted};
    const GemmOptions options{few.leading, 1, draw.flip() ? bias.values.data() : nullptr, count};
    kernels::gemm_tiled(a.matrix().block(0, m, 0, k), b.matrix(), few.to(false), options);
    kernels::gemm_tiled(a.matrix(), b.matrix(), all.to(false), {n, 1, options.bias});
    bool equal = true;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t j = 0; j < few.leading; ++j)
        equal &= j < n ? few.at(row, j) == all.at(row, j) && visits.at(row, j) == 1
                       : std::isnan(few.values[static_cast<size_t>(row * few.leading + j)]);
    CHECK_MESSAGE(equal, m, " × ", n, " × ", k);
  }
}

// Checks that element (i, j) of scale · a b + bias (+ c) has the bits of finish(i, j, options, c).
template <class Product, class Sum>
void check_bits(const TestMatrix& a, const TestMatrix& b, Draw& draw, Product product, Sum finish) {
  const bool accumulate = draw.flip();
  TestMatrix c(a.rows, b.columns, false, draw.below(4));
  if (accumulate) c.fill(draw);
  const TestMatrix before = c, bias = dense(1, b.columns, false, draw);
  const GemmOptions options{c.leading, draw.flip() ? real{1} : real{-0.75},
                            draw.flip() ? bias.values.data() : nullptr};
  product(a.matrix(), b.matrix(), c.to(accumulate), options);
  bool equal = true;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      equal &= c.at(i, j) == finish(i, j, options, accumulate ? before.at(i, j) : real{0});
  CHECK_MESSAGE(equal, fmt::format("{} × {} × {}, a {}, b {}", a.rows, b.columns, a.columns,
                                   a.transposed, b.transposed));
}

// Every number of rows and of vectors that the micro-kernel is compiled for, a read in either
// direction, b packed, in place and as the left operand.
TEST_CASE("gemm_tiled: every instance has the bits of one loop") {
  Draw draw(7);
  const auto check_shape = [&](int64_t m, int64_t n, int64_t k, bool transposed_a,
                               bool transposed_b) {
    const TestMatrix a = padded(m, k, transposed_a, draw), b = padded(k, n, transposed_b, draw);
    check_bits(a, b, draw, tiled, [&](int64_t i, int64_t j, const GemmOptions& o, real before) {
      real sum = 0;
      for (int64_t p = 0; p < k; ++p) sum = kernels::fma(a.at(i, p), b.at(p, j), sum);
      return before + kernels::fma(sum, o.scale, o.bias ? o.bias[j] : real{0});
    });
  };
  for (int64_t m = 1; m <= 25; ++m)
    for (int64_t vectors = 1; vectors <= 5; ++vectors)
      for (const bool transposed : {false, true}) {
        const int64_t n = vectors * kernels::lanes, k = draw.up_to(60);
        check_shape(m, n, k, transposed, draw.flip());
        check_shape(m, n - draw.below(kernels::lanes), k, transposed, draw.flip());
      }
  for (const int64_t m : {1, 3, 12, 16, 31, 64})
    for (const int64_t n : {128, 130, 741}) check_shape(m, n, 313, false, true);
}

TEST_CASE("gemm_few_rows: every instance has the bits of one loop") {
  Draw draw(7);
  for (int64_t m = 1; m <= 4; ++m)
    for (int i = 0; i < 10; ++i) {
      const TestMatrix a = padded(m, 15 + draw.up_to(300), false, draw),
                       b = padded(a.columns, draw.up_to(40), true, draw);
      check_bits(a, b, draw, few_rows,
                 [&](int64_t row, int64_t j, const GemmOptions& o, real before) {
                   real sums[kernels::lanes]{};
                   for (int64_t p = 0; p < a.columns; ++p) {
                     real& sum = sums[p % kernels::lanes];
                     sum = kernels::fma(a.at(row, p), b.at(p, j), sum);
                   }
                   for (int step = kernels::lanes / 2; step > 0; step /= 2)
                     for (int lane = 0; lane < step; ++lane) sums[lane] += sums[lane + step];
                   return o.scale * sums[0] + (o.bias ? o.bias[j] : real{0}) + before;
                 });
    }
}

TEST_CASE("gemm_few_rows: one to four rows") {
  Draw draw(7);
  for (int64_t m = 1; m <= 4; ++m)
    for (int i = 0; i < 40; ++i) {
      const int64_t n = draw.up_to(i < 20 ? 9 : 200), k = 15 + draw.up_to(i < 20 ? 40 : 600);
      const TestMatrix a = padded(m, k, false, draw), b = padded(k, n, true, draw);
      REQUIRE(kernels::has_few_rows(a.matrix(), b.matrix()));
      check_product(a, b, draw, few_rows);
    }
}

TEST_CASE("gemm: small, large and narrow shapes, on one thread and on several") {
  Draw draw(7);
  const auto serial = [](const MatrixView& a, const MatrixView& b, Destination c,
                         const GemmOptions& o) {
    kernels::gemm_serial(a, b, c, Precision::highest, o);
  };
  const auto shared = [](const auto&... arguments) { kernels::gemm_parallel(arguments...); };
  for (int i = 0; i < 40; ++i) {
    check_product(draw.up_to(3), draw.up_to(200), draw.up_to(200), draw, serial);
    check_product(draw.up_to(200), draw.up_to(5), draw.up_to(200), draw, shared);
    check_product(draw.up_to(300), draw.up_to(300), draw.up_to(100), draw, shared);
  }
  check_product(300, 260, 250, draw, serial);
  check_product(301, 515, 259, draw, shared);
}

void check_same_bits(int64_t m, int64_t n, int64_t k, bool transposed_a, bool transposed_b,
                     Draw& draw) {
  const int before = thread_count();
  const TestMatrix a = dense(m, k, transposed_a, draw), b = dense(k, n, transposed_b, draw);
  std::vector<real> serial(static_cast<size_t>(m * n)), parallel = serial;
  set_thread_count(1);
  kernels::gemm_parallel(a.matrix(), b.matrix(), {serial.data(), false});
  for (const int threads : {2, 3, 4, 7, 40}) {
    set_thread_count(threads);
    kernels::gemm_parallel(a.matrix(), b.matrix(), {parallel.data(), false});
    INFO(std::string(fmt::format("{} × {} × {}, {} threads", m, n, k, threads)));
    CHECK(parallel == serial);
  }
  set_thread_count(before);
}

TEST_CASE("gemm: the same bits for any number of threads") {
  Draw draw(7);
  for (int i = 0; i < 30; ++i) {
    const int64_t m = draw.up_to(i % 3 ? 400 : 4), n = 20 + draw.up_to(400);
    check_same_bits(m, n, 150 + draw.up_to(500), m > 4 && i % 2, i % 3 == 0 || i % 4, draw);
  }
  check_same_bits(31, 33, 4000, false, true, draw);  // sides that are not divided
  for (const bool transposed : {false, true}) {      // computed by BLAS
    check_same_bits(2003, 3, 400, false, transposed, draw);
    check_same_bits(2, 4001, 300, transposed, false, draw);
  }
}

TEST_CASE("gemm: the same bits on a thread whose first product was inside a parallel loop") {
  Draw draw(7);
  const TestMatrix a = dense(2003, 400, false, draw), b = dense(400, 3, false, draw);
  std::vector<real> here(2003 * 3), there = here, inside[2] = {here, here};
  kernels::gemm_serial(a.matrix(), b.matrix(), {here.data(), false}, Precision::highest);
  std::thread([&] {
    parallel_for(2, 1, [&](int64_t i, int64_t) {
      kernels::gemm_serial(a.matrix(), b.matrix(), {inside[i].data(), false}, Precision::highest);
    });
    kernels::gemm_serial(a.matrix(), b.matrix(), {there.data(), false}, Precision::highest);
  }).join();
  CHECK(there == here);
  for (const std::vector<real>& product : inside) CHECK(product == here);
}

TEST_CASE("gemm: the epilogue runs once on every element of the result") {
  struct Result {
    std::vector<real> c;
    int64_t columns;
  };
  const auto add_one = [](const void* context, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    Result& to = *static_cast<Result*>(const_cast<void*>(context));
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = j0; j < j1; ++j) to.c[static_cast<size_t>(i * to.columns + j)] += 1;
  };
  struct Sizes {
    int64_t m, n, k;
  };
  Draw draw(7);  // one block; many; few rows; BLAS
  for (const auto [m, n, k] :
       {Sizes{200, 170, 90}, {1100, 500, 800}, {3, 200, 300}, {200, 3, 90}}) {
    const TestMatrix a = dense(m, k, false, draw), b = dense(k, n, true, draw);
    std::vector<real> plain(static_cast<size_t>(m * n));
    Result finished{plain, n};
    kernels::gemm_parallel(a.matrix(), b.matrix(), {plain.data(), false});
    kernels::gemm_parallel(a.matrix(), b.matrix(), {finished.c.data(), false},
                           {.epilogue = {add_one, &finished}});
    for (size_t i = 0; i < plain.size(); ++i) REQUIRE(finished.c[i] == plain[i] + 1);
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
