#include "nn/positional.h"

#include <doctest/doctest.h>

#include "core/autograd.h"
#include "core/ops.h"

using namespace heed;

namespace {
double dot(const Tensor& table, int64_t i, int64_t j) {
  double total = 0;
  for (int64_t c = 0; c < table.dim(1); ++c)
    total += static_cast<double>(table.data()[i * table.dim(1) + c]) *
             static_cast<double>(table.data()[j * table.dim(1) + c]);
  return total;
}
}  // namespace

TEST_CASE("sinusoidal positions are the paper's") {
  // Interleaved, first frequency 1: position 1 of width 4, computed apart in double precision.
  const Tensor table = sinusoidal_positions(3, 4);
  const double expected[] = {0.841471, 0.540302, 0.010000, 0.999950};
  for (int64_t c = 0; c < 4; ++c)
    CHECK(table.data()[4 + c] == doctest::Approx(expected[c]).epsilon(1e-5));
  for (int64_t c = 0; c < 4; ++c) CHECK(table.data()[c] == doctest::Approx(c % 2));
}

TEST_CASE("the product of two sinusoidal positions depends on their distance alone") {
  const Tensor table = sinusoidal_positions(40, 64);
  const double gaps[] = {32, 30.917, 28.304, 25.587};
  for (int64_t gap = 0; gap < 4; ++gap)
    for (int64_t i : {0, 10, 31})
      CHECK(dot(table, i, i + gap) == doctest::Approx(gaps[gap]).epsilon(1e-4));
  CHECK(dot(table, 10, 15) == doctest::Approx(23.504).epsilon(1e-4));
}

TEST_CASE("positions are added; learned ones have an end and say so") {
  ScopeGuard here;
  const Tensor x = Tensor::zeros({2, 3, 4});
  const PositionalEncoding learned(4, {PositionalKind::learned, 5}, 0.1);
  const Tensor y = learned(x);
  for (int64_t i = 0; i < y.size(); ++i) CHECK(y.data()[i] == learned.weight.data()[i % 12]);
  CHECK_THROWS_WITH_AS(learned(Tensor::zeros({1, 6, 4})), doctest::Contains("max_length"), Error);

  const PositionalEncoding sinusoidal(4, {PositionalKind::sinusoidal, 5}, 0.1);
  CHECK(sinusoidal.parameter_count() == 0);
  const Tensor near = sinusoidal(Tensor::zeros({1, 3, 4}));
  const Tensor far = sinusoidal(Tensor::zeros({1, 700, 4}));  // the table grows
  for (int64_t i = 0; i < near.size(); ++i) CHECK(near.data()[i] == far.data()[i]);

  const PositionalEncoding none(4, {PositionalKind::none, 5}, 0.1);
  CHECK(none(x).same_as(x));
}
