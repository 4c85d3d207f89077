// Fused operations against what they are composed of: values and every gradient, at sizes where
// their work is cut into blocks with edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/random.h"

namespace heed::inline HEED_REAL {
namespace {

Tensor drawn(const Shape& shape, uint32_t call) {
  std::vector<real> numbers(static_cast<size_t>(shape.size()));
  Random random(3, Purpose::generation, 0, 0, call);
  for (real& v : numbers) v = static_cast<real>(random.normal());
  return Tensor::from(shape, numbers);
}

// The greatest difference, of numbers beyond 1 relative to them.
double difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  double worst = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = double{a.data()[i]}, y = double{b.data()[i]};
    const double error = std::fabs(x - y) / std::max(1.0, std::fabs(y));
    worst = error <= worst ? worst : error;  // a NaN stays
  }
  return worst;
}

template <class Fused, class Composed>
void check_same(const std::vector<Shape>& shapes, Fused fused, Composed composed) {
  std::vector<Tensor> one, other;
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    one.push_back(drawn(shapes[i], i).set_requires_grad());
    other.push_back(one.back().clone().set_requires_grad());
  }
  const Tensor y = fused(one), z = composed(other);
  constexpr double limit = 200 * std::numeric_limits<real>::epsilon();
  CHECK(difference(y, z) <= limit);
  const Tensor cotangent = drawn(y.shape(), 100);
  backward(y, cotangent);
  backward(z, cotangent);
  for (size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(one[i].grad(), other[i].grad()) <= limit);
  }
}

using Inputs = const std::vector<Tensor>&;

TEST_CASE("fused: linear with a nonlinearity") {
  struct Pair {
    Nonlinearity function;
    Tensor (*composed)(const Tensor&);
  };
  const Pair pairs[] = {
      {Nonlinearity::relu, relu},
      {Nonlinearity::gelu, [](const Tensor& h) { return gelu(h); }},
      {Nonlinearity::gelu_tanh, [](const Tensor& h) { return gelu(h, GeluForm::tanh); }},
      {Nonlinearity::silu, silu},
      {Nonlinearity::tanh, tanh}};
  for (const Pair& pair : pairs) {
    CAPTURE(static_cast<int>(pair.function));
    // Few rows; many, whose backward goes by blocks; and weights too large for that.
    const std::vector<Shape> sizes[] = {{{130, 70}, {91, 70}, {91}},
                                        {{5, 80, 70}, {91, 70}, {91}},
                                        {{270, 230}, {290, 230}, {290}}};
    for (const std::vector<Shape>& shapes : sizes) {
      check_same(
          shapes, [&](Inputs t) { return linear(t[0], t[1], t[2], pair.function); },
          [&](Inputs t) { return pair.composed(linear(t[0], t[1]) + t[2]); });
      check_same(
          {shapes[0], shapes[1]}, [&](Inputs t) { return linear(t[0], t[1], {}, pair.function); },
          [&](Inputs t) {
            const Tensor x = t[0].reshape({t[0].size() / t[0].dim(-1), t[0].dim(-1)});
            const Tensor h = pair.composed(matmul(x, transpose(t[1], 0, 1)));
            return h.reshape(t[0].shape().with_last(t[1].dim(0)));
          });
    }
  }
}

TEST_CASE("fused: linear of one tensor as rows and as weights, in blocks") {
  constexpr real share = real{1} / 32;  // gradients are sums of 512 products
  check_same(
      {{256, 60}}, [](Inputs t) { return mul(linear(t[0], t[0]), share); },
      [](Inputs t) { return mul(matmul(t[0], transpose(t[0], 0, 1)), share); });
}

}  // namespace
}  // namespace heed::inline HEED_REAL
