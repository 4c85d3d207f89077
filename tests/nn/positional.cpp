#include "nn/forms/positional.h"

#include <doctest/doctest.h>

#include <cmath>

#include "checks.h"
#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"
#include "support.h"

using namespace heed;
using heed::testing::random_tensor;
using heed::testing::rounding;
using heed::testing::same_bits;

namespace {

double at(const Tensor& table, int64_t row, int64_t column) {
  return static_cast<double>(table.data()[row * table.dim(-1) + column]);
}

double dot(const Tensor& table, int64_t i, int64_t j) {
  double total = 0;
  for (int64_t c = 0; c < table.dim(-1); ++c) total += at(table, i, c) * at(table, j, c);
  return total;
}

void check_row(const Tensor& table, int64_t row, std::initializer_list<double> expected) {
  REQUIRE(table.dim(-1) == static_cast<int64_t>(expected.size()));
  int64_t column = 0;
  for (double value : expected) {
    CAPTURE(column);
    CHECK(at(table, row, column++) == doctest::Approx(value).epsilon(1e-5));
  }
}

PositionalOptions concatenated(const PositionalRule* kind, int64_t dim) {
  PositionalOptions o;
  o.kind = kind;
  o.combine = PositionalCombine::concat;
  o.dim = dim;
  return o;
}

Tensor random_input(const Shape& shape) { return random_tensor(shape, 11).detach(); }

constexpr RotaryLayout layouts[] = {RotaryLayout::interleaved, RotaryLayout::halves};

}  // namespace

TEST_CASE("sinusoidal positions are the paper's") {
  // Interleaved, first frequency 1: position 1 of width 4, computed separately in double precision.
  const Tensor table = sinusoidal_positions(3, 4);
  check_row(table, 0, {0, 1, 0, 1});
  check_row(table, 1, {0.841471, 0.540302, 0.010000, 0.999950});
}

TEST_CASE("sinusoids with first_k = 1 omit the first frequency") {
  PositionalOptions o;
  o.first_k = 1;
  check_row(sinusoidal_positions(2, 4, o), 1, {0.010000, 0.999950, 0.000100, 1.0});
}

TEST_CASE("the layouts halves and interleaved contain the same columns") {
  PositionalOptions o;
  o.layout = RotaryLayout::halves;
  check_row(sinusoidal_positions(2, 4, o), 1, {0.841471, 0.010000, 0.540302, 0.999950});
  // An odd width has one more sine than cosines.
  const Tensor halves = sinusoidal_positions(9, 7, o), pairs = sinusoidal_positions(9, 7);
  for (int64_t t = 0; t < 9; ++t)
    for (int64_t c = 0; c < 7; ++c)
      CHECK(at(halves, t, c % 2 == 0 ? c / 2 : 4 + c / 2) == at(pairs, t, c));
}

TEST_CASE("the product of two sinusoidal positions depends only on their distance") {
  const double gaps[] = {32, 30.917, 28.304, 25.587};
  for (RotaryLayout layout : layouts) {
    PositionalOptions o;
    o.layout = layout;
    const Tensor table = sinusoidal_positions(40, 64, o);
    for (int64_t gap = 0; gap < 4; ++gap)
      for (int64_t i : {0, 10, 31})
        CHECK(dot(table, i, i + gap) == doctest::Approx(gaps[gap]).epsilon(1e-4));
    CHECK(dot(table, 0, 5) == doctest::Approx(23.504).epsilon(1e-4));
    CHECK(dot(table, 10, 15) == doctest::Approx(23.504).epsilon(1e-4));
  }
}

TEST_CASE("the product of two sinusoidal positions is a Fourier series that falls with distance") {
  // Σₖ cos ωₖ g decreases at small distances, as the ideal kernel exp(-λ g²) does. The series is
  // truncated, so at larger distances it oscillates.
  for (double base : {10000.0, 100.0}) {
    PositionalOptions o;
    o.base = base;
    const Tensor table = sinusoidal_positions(60, 64, o);
    for (int64_t gap = 0; gap < 60; ++gap) {
      double series = 0;
      for (int64_t k = 0; k < 32; ++k)
        series += std::cos(static_cast<double>(gap) * std::pow(base, -static_cast<double>(k) / 32));
      CHECK(std::abs(dot(table, 0, gap) - series) <= 32 * rounding);
    }
    for (int64_t gap = 1; gap <= 5; ++gap) CHECK(dot(table, 0, gap) < dot(table, 0, gap - 1));
  }
  const Tensor table = sinusoidal_positions(7, 64);
  CHECK(dot(table, 0, 6) > dot(table, 0, 5));
}

TEST_CASE("the product of two gaussian positions is the kernel exp(-lambda g squared)") {
  constexpr int64_t length = 40;
  const auto error = [](int64_t dim, int64_t terms, double lambda) {
    PositionalOptions o{.kind = &positional_encodings::gaussian, .max_length = length};
    o.lambda = lambda, o.terms = terms;
    const Tensor phi = o.kind->table(length, dim, o);
    double most = 0;
    for (int64_t s = 0; s < length; ++s)
      for (int64_t t = 0; t < length; ++t) {
        double product = 0;
        for (int64_t c = 0; c < dim; ++c)
          product += static_cast<double>(phi.data()[s * dim + c]) * phi.data()[t * dim + c];
        const auto gap = static_cast<double>(s - t);
        most = std::max(most, std::abs(product - std::exp(-lambda * gap * gap)));
      }
    return most;
  };
  CHECK(error(40, 0, 0.02) < 1e-5);   // 20 terms
  CHECK(error(41, 20, 0.02) < 1e-5);  // one column of zeros
  CHECK(error(40, 4, 0.02) > 0.1);
  CHECK(error(40, 0, 0.5) > 0.1);  // a narrow kernel needs more
  CHECK(error(160, 80, 0.5) < 1e-5);
  const PositionalOptions o{
      .kind = &positional_encodings::gaussian, .max_length = 8, .lambda = 0.1, .terms = 5};
  CHECK_CONTAINS(thrown<InputError>([&] { o.kind->table(8, 8, o); }),
                 "`positional.terms` = 5 needs 10 columns");
  PositionalOptions many = o;
  many.terms = (1 << 15) + 1;
  CHECK_CONTAINS(thrown<InputError>([&] { many.validate(12); }),
                 "terms: expected an integer, 0 … 32768");
  CHECK_CONTAINS(thrown<Error>([&] {
                   Positions(12, o)(Tensor::zeros({1, 9, 12}));
                 }),
                 "exceeds the 8 positions that there are; raise `max_length`");
}

TEST_CASE(
    "the product of two integer positions grows with the positions, not with their proximity") {
  PositionalOptions o;
  o.kind = &positional_encodings::integer;
  const Tensor positions = PositionalEncoding(3, o, 0.1)(Tensor::zeros({1, 9, 3}));
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t j = 0; j < 9; ++j) CHECK(dot(positions, i, j) == 3 * i * j);
}

TEST_CASE("positions are added; exceeding max_length of learned ones is an error") {
  ScopeGuard here;
  const Tensor x = Tensor::zeros({2, 3, 4});
  const PositionalEncoding learned(4, {&positional_encodings::learned, 5}, 0.1);
  REQUIRE(learned.parameters().size() == 1);
  CHECK(learned.parameters()[0].name == "weight");
  const Tensor weight = learned.parameters()[0].tensor;
  CHECK(weight.shape() == Shape{5, 4});
  const Tensor y = learned(x);
  for (int64_t i = 0; i < y.size(); ++i) CHECK(y.data()[i] == weight.data()[i % 12]);
  CHECK_THROWS_WITH_AS(learned(Tensor::zeros({1, 6, 4})), doctest::Contains("max_length"), Error);
  CHECK_THROWS_WITH_AS(learned(Tensor::zeros({1, 3, 1})), doctest::Contains("[1, 3, 1]"), Error);

  const PositionalEncoding sinusoidal(4, {&positional_encodings::sinusoidal, 5}, 0.1);
  CHECK(sinusoidal.parameter_count() == 0);
  const Tensor near = sinusoidal(Tensor::zeros({1, 3, 4}));
  const Tensor far = sinusoidal(Tensor::zeros({1, 700, 4}));  // the table grows
  for (int64_t i = 0; i < near.size(); ++i) CHECK(near.data()[i] == far.data()[i]);
}

TEST_CASE("encodings that are not vectors return tokens unchanged") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  for (const PositionalRule* kind :
       {&positional_encodings::none, &positional_encodings::rotary, &positional_encodings::alibi,
        &positional_encodings::relative}) {
    const PositionalEncoding encoding(4, {kind, 5}, 0.1);
    CHECK(encoding(x).same_as(x));
    CHECK(encoding.parameter_count() == 0);
  }
}

TEST_CASE("concatenated positions are extra columns, the same in every example") {
  for (const PositionalRule* kind :
       {&positional_encodings::sinusoidal, &positional_encodings::learned,
        &positional_encodings::integer}) {
    ScopeGuard here;
    const PositionalOptions o = concatenated(kind, 4), plain{kind};
    CHECK(token_width(7, o) == 3);
    CHECK(token_width(7, plain) == 7);
    here->seed = 5;
    here->calls = 0;
    const PositionalEncoding encoding(7, o, 0.1);
    here->calls = 0;  // the same weights
    const Tensor positions = PositionalEncoding(4, plain, 0.1)(Tensor::zeros({1, 5, 4}));
    const Tensor x = random_input({2, 5, 3});
    const Tensor y = encoding(x);
    REQUIRE(y.shape() == Shape{2, 5, 7});
    for (int64_t row = 0; row < 10; ++row) {
      for (int64_t c = 0; c < 3; ++c) CHECK(at(y, row, c) == at(x, row, c));
      for (int64_t c = 0; c < 4; ++c) CHECK(at(y, row, 3 + c) == at(positions, row % 5, c));
    }
    CHECK_THROWS_AS(encoding(Tensor::zeros({2, 5, 7})), Error);
  }
}

TEST_CASE("concatenation passes each gradient to its columns") {
  ScopeGuard here;
  const PositionalEncoding encoding(5, concatenated(&positional_encodings::learned, 2), 0.1);
  const Tensor x = Tensor::zeros({2, 3, 3}).set_requires_grad();
  const Tensor cotangent = random_input({2, 3, 5});
  backward(encoding(x), cotangent);
  const Tensor weight = encoding.parameters()[0].tensor;
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t c = 0; c < 3; ++c)
        CHECK(at(x.grad(), b * 3 + t, c) == at(cotangent, b * 3 + t, c));
    for (int64_t c = 0; c < 2; ++c)
      CHECK(at(weight.grad(), t, c) ==
            doctest::Approx(at(cotangent, t, 3 + c) + at(cotangent, 3 + t, 3 + c)));
  }
  for (int64_t c = 0; c < 2; ++c) CHECK(at(weight.grad(), 3, c) == 0);  // no one stood there
}

TEST_CASE("on a grid each axis has its part of the columns") {
  const int64_t image[] = {2, 3}, video[] = {2, 3, 4};
  for (RotaryLayout layout : layouts) {
    PositionalOptions o;
    o.layout = layout;
    const PositionalEncoding encoding(8, o, 0.1, image);
    const Tensor x = random_input({2, 6, 8});
    const Tensor y = encoding(x), again = encoding(x), along = sinusoidal_positions(3, 4, o);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t column = 0; column < 3; ++column)
          for (int64_t c = 0; c < 8; ++c) {
            const int64_t cell = b * 6 + row * 3 + column;
            const double phi = c < 4 ? at(along, row, c) : at(along, column, c - 4);
            CHECK(at(y, cell, c) == doctest::Approx(at(x, cell, c) + phi));
            CHECK(at(again, cell, c) == at(y, cell, c));
          }
  }
  PositionalOptions o = concatenated(&positional_encodings::integer, 3);
  const Tensor y = PositionalEncoding(4, o, 0.1, video)(Tensor::zeros({1, 24, 1}));
  check_row(y, 0, {0, 0, 0, 0});
  check_row(y, 5, {0, 0, 1, 1});
  check_row(y, 23, {0, 1, 2, 3});
}

TEST_CASE("learned positions of a grid are one table for each axis") {
  ScopeGuard here;
  const int64_t grid[] = {2, 3};
  const PositionalEncoding encoding(4, {&positional_encodings::learned, 5}, 0.1, grid);
  const auto tables = encoding.parameters();
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].name == "axis_0");
  CHECK(tables[0].tensor.shape() == Shape{2, 2});
  CHECK(tables[1].name == "axis_1");
  CHECK(tables[1].tensor.shape() == Shape{3, 2});
  const Tensor y = encoding(Tensor::zeros({1, 6, 4}));
  for (int64_t cell = 0; cell < 6; ++cell)
    for (int64_t c = 0; c < 2; ++c) {
      CHECK(at(y, cell, c) == at(tables[0].tensor, cell / 3, c));
      CHECK(at(y, cell, 2 + c) == at(tables[1].tensor, cell % 3, c));
    }
}

TEST_CASE("gradients of learned positions agree with central differences") {
  const int64_t grid[] = {2, 3};
  const Tensor x = random_input({2, 6, 2}), cotangent = random_input({2, 6, 6});
  for (std::span<const int64_t> shape :
       {std::span<const int64_t>(), std::span<const int64_t>(grid)}) {
    const PositionalEncoding encoding(6, concatenated(&positional_encodings::learned, 4), 0.5,
                                      shape);
    testing::check_gradients(encoding.parameters(), [&] {
      const Tensor y = encoding(x);
      return sum(y * y * cotangent);
    });
  }
}

TEST_CASE("a grid that does not fit is rejected") {
  const int64_t grid[] = {2, 3}, none[] = {2, 0};
  const PositionalOptions o;
  CHECK_THROWS_WITH_AS(PositionalEncoding(8, o, 0.1, grid)(Tensor::zeros({1, 5, 8})),
                       doctest::Contains("[2, 3]"), Error);
  CHECK_THROWS_WITH_AS(PositionalEncoding(6, o, 0.1, grid), doctest::Contains("`dim` = 6"),
                       InputError);
  CHECK_THROWS_WITH_AS(
      PositionalEncoding(8, concatenated(&positional_encodings::learned, 3), 0.1, grid),
      doctest::Contains("`positional.dim` = 3"), InputError);
  CHECK_THROWS_AS(PositionalEncoding(8, o, 0.1, none), Error);
}

TEST_CASE("contradictory positional options are an input error") {
  const auto rejects = [](const PositionalOptions& o, const char* key) {
    CHECK_THROWS_WITH_AS(o.validate(8), doctest::Contains(key), InputError);
  };
  for (const PositionalRule* kind : {&positional_encodings::none, &positional_encodings::rotary,
                                     &positional_encodings::alibi, &positional_encodings::relative})
    rejects(concatenated(kind, 4), "`positional.combine`");
  rejects(concatenated(&positional_encodings::learned, 0), "set `positional.dim`");
  rejects(concatenated(&positional_encodings::learned, 8), "`positional.dim` = 8");
  rejects(concatenated(&positional_encodings::sinusoidal, 3), "`positional.dim` = 3");
  CHECK_NOTHROW(concatenated(&positional_encodings::integer, 3).validate(8));
  PositionalOptions added;
  CHECK_NOTHROW(added.validate(8));
  added.dim = 4;
  rejects(added, "`positional.combine`");
  PositionalOptions relative{&positional_encodings::relative};
  CHECK_NOTHROW(relative.validate(8));
  relative.buckets = 7;
  rejects(relative, "`positional.buckets` = 7");
  relative.buckets = 32;
  relative.max_distance = 16;
  rejects(relative, "`positional.max_distance` = 16");
}

TEST_CASE("positions that were only counted are computed when they are needed") {
  const PositionalEncoding positions(8, {}), fresh(8, {});
  const Tensor x = Tensor::zeros({1, 3, 8});
  {
    ScopeGuard here;
    here->shapes_only = true;
    positions(x);
  }
  CHECK(same_bits(positions(x), fresh(x)));
}
