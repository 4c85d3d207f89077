// Hardmax and division by the sum where central differences do not apply: ties, the
// straight-through gradient, rows without a sum, hidden rows.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "values.h"

namespace heed::inline HEED_REAL {
namespace {

using RowValues = std::vector<real>;

// The gradient that arrives at a copy of x.
template <class Op>
RowValues gradient(const Tensor& x, const Tensor& cotangent, Op op) {
  Tensor leaf = x.clone();
  leaf.set_requires_grad();
  backward(op(leaf), cotangent);
  return elements(leaf.grad());
}

TEST_CASE("hardmax: ties share the weight, -inf has none, NaN gives NaN") {
  const auto of = [](const Shape& shape, std::initializer_list<real> x) {
    return elements(hardmax(Tensor::from(shape, x)));
  };
  CHECK(of({3, 4}, {1, 3, 3, -1, 2, 2, 2, 2, -5, -6, -7, -8}) ==
        RowValues{0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0});
  CHECK(of({3, 2}, {-infinity, -8, -infinity, -infinity, infinity, infinity}) ==
        RowValues{0, 1, 0, 0, 0.5, 0.5});
  for (const real v : of({3}, {nan, 1, 0})) CHECK(std::isnan(v));
  for (const real v : of({2}, {-infinity, nan})) CHECK(std::isnan(v));
}

TEST_CASE("hardmax: it is the limit of softmax(x / T) for T towards 0") {
  const Tensor x = Tensor::from({2, 4}, {1, 3, 3, -1, 0.5, 0.25, -2, 0});
  const RowValues hard = elements(hardmax(x)), cold = elements(softmax(mul(x, 1000)));
  for (size_t i = 0; i < hard.size(); ++i) CHECK(cold[i] == doctest::Approx(hard[i]));
}

TEST_CASE("hardmax: the gradient is zero, or with straight_through that of the softmax") {
  const Tensor x = Tensor::from({3, 3}, {1, 3, 3, 0.5, -2, 0, -infinity, 1, -infinity});
  const Tensor cotangent = Tensor::from({3, 3}, {1, -2, 0.5, 3, 1, -1, 2, 1, 1});
  CHECK(gradient(x, cotangent, [](const Tensor& t) { return hardmax(t); }) == RowValues(9, 0));
  const auto straight_through = [](const Tensor& t) {
    return hardmax(t, HardmaxGradient::straight_through);
  };
  const RowValues soft = gradient(x, cotangent, [](const Tensor& t) { return softmax(t); });
  CHECK(gradient(x, cotangent, straight_through) == soft);
  CHECK(std::fabs(soft[0]) > 0.01);
  CHECK(elements(straight_through(x)) == elements(hardmax(x)));
  // Both accumulate: here one leaf is used twice.
  RowValues twice = soft;
  for (real& g : twice) g *= 2;
  CHECK(gradient(x, cotangent, [&](const Tensor& t) {
          return straight_through(t) + straight_through(t) + hardmax(t);
        }) == twice);
}

TEST_CASE("sum_normalize: a row whose sum is within 1e-6 of 0 gives zeros") {
  const Tensor x = Tensor::from({5, 2}, {real(1e-6), 0, -3, 1, 3, 1, 1, -1, real(-2e-6), 0});
  CHECK(elements(sum_normalize(x)) == RowValues{0, 0, 1.5, -0.5, 0.75, 0.25, 0, 0, 1, 0});
  const RowValues g =
      gradient(x, Tensor::full({5, 2}, infinity), [](const Tensor& t) { return sum_normalize(t); });
  for (const size_t guarded : {0, 1, 6, 7}) CHECK(g[guarded] == 0);
  CHECK(std::isnan(g[4]));  // inf - inf: only rows without a sum are guarded
}

TEST_CASE("sum_normalize: rows with NaN or an infinite sum are not rows without a sum") {
  for (const real v : elements(sum_normalize(Tensor::from({2}, {nan, -3})))) CHECK(std::isnan(v));
  const RowValues y = elements(sum_normalize(Tensor::from({2}, {infinity, 1})));
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 0);
}

TEST_CASE("a query that may attend to no key has weights and gradients of zero") {
  const KeepMask mask{.causal = true, .key_lengths = Ids::from({2}, {3, 0})};
  const Tensor scores = Tensor::full({2, 1, 2, 3}, 4), cotangent = Tensor::full({2, 1, 2, 3}, 5);
  const auto check_hidden = [&](real hidden, auto weights) {
    const auto of = [&](const Tensor& t) { return weights(masked_fill(t, mask, hidden)); };
    const RowValues y = elements(of(scores)), g = gradient(scores, cotangent, of);
    for (size_t i = 6; i < 12; ++i) {
      CHECK(y[i] == 0);
      CHECK(g[i] == 0);
    }
    CHECK(y[0] == real{0.5});  // the first query sees two keys
    CHECK(y[2] == 0);
  };
  check_hidden(-infinity, [](const Tensor& t) { return softmax(t); });
  check_hidden(-infinity, [](const Tensor& t) { return hardmax(t); });
  check_hidden(-infinity,
               [](const Tensor& t) { return hardmax(t, HardmaxGradient::straight_through); });
  check_hidden(0, [](const Tensor& t) { return sum_normalize(t); });
}

}  // namespace
}  // namespace heed::inline HEED_REAL
