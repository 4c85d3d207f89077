// Training in `high` and `medium`, on tile instructions in software: the loss follows float32.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bfloat16_check.h"
#include "core/precision.h"

namespace heed::inline HEED_REAL::testing {
namespace {

// c = scale · a b on tiles, or in float32.
void multiply(Precision precision, const TestMatrix& a, const TestMatrix& b, TestMatrix& c,
              bool accumulate = false, float scale = 1) {
  const kernels::GemmOptions options{.leading_c = c.columns, .scale = scale};
  if (precision == Precision::highest)
    gemm_serial(a.matrix(), b.matrix(), c.to(accumulate), precision, options);
  else
    gemm_on_tiles(software_tiles, a.matrix(), b.matrix(), c.to(accumulate), options, precision);
}

// The transpose: the same values in the other layout.
TestMatrix transpose(const TestMatrix& m) {
  TestMatrix t(m.columns, m.rows, !m.transposed);
  t.values = m.values;
  return t;
}

// The losses of 60 steps of gradient descent that fit tanh(x w) v to a network of the same form.
std::vector<double> losses_of_training(Precision precision) {
  constexpr int64_t examples = 64, inputs = 32, width = 48, outputs = 16;
  constexpr float rate = 0.5F / examples;
  Draw draw(31);
  const auto normal = [&draw](int64_t rows, int64_t columns) {
    const float deviation = 1 / std::sqrt(static_cast<float>(rows));
    return TestMatrix(rows, columns).fill([&] { return deviation * draw(); });
  };
  const TestMatrix x = TestMatrix(examples, inputs).fill(draw);
  TestMatrix target(examples, outputs), y = target, h(examples, width), dh = h;
  const auto forward = [&](Precision in, const TestMatrix& w, const TestMatrix& v, TestMatrix& to) {
    multiply(in, x, w, h);
    for (float& value : h.values) value = std::tanh(value);
    multiply(in, h, v, to);
  };
  forward(Precision::highest, normal(inputs, width), normal(width, outputs), target);
  TestMatrix w = normal(inputs, width), v = normal(width, outputs);
  std::vector<double> losses;
  for (int step = 0; step < 60; ++step) {
    forward(precision, w, v, y);
    double loss = 0;
    for (size_t i = 0; i < y.values.size(); ++i) {
      y.values[i] -= target.values[i];
      loss += 0.5 * y.values[i] * y.values[i] / examples;
    }
    losses.push_back(loss);
    multiply(precision, y, transpose(v), dh);  // dh = dy · vᵀ
    for (size_t i = 0; i < h.values.size(); ++i) dh.values[i] *= 1 - h.values[i] * h.values[i];
    multiply(precision, transpose(h), y, v, true, -rate);   // v -= rate · hᵀ · dy
    multiply(precision, transpose(x), dh, w, true, -rate);  // w -= rate · xᵀ · dh
  }
  return losses;
}

TEST_CASE("bfloat16: training in high and medium follows float32") {
  const std::vector<double> highest = losses_of_training(Precision::highest);
  const auto largest_difference = [&highest](Precision precision) {
    const std::vector<double> losses = losses_of_training(precision);
    double most = 0;
    for (size_t i = 0; i < losses.size(); ++i)
      most = std::max(most, std::fabs(losses[i] - highest[i]) / highest[i]);
    return most;
  };
  CHECK(highest.back() < highest.front() / 10);
  const double high = largest_difference(Precision::high),
               medium = largest_difference(Precision::medium);
  CHECK(high > 0);
  CHECK(high < 1e-4);
  CHECK(medium > 10 * high);
  CHECK(medium < 1e-2);
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
