// Operations on special values: empty tensors, infinities, NaN, values too large to exponentiate.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "values.h"

namespace heed::inline HEED_REAL {
namespace {

Tensor leaf(const Shape& shape, real value = 1) {
  Tensor x = Tensor::full(shape, value);
  x.set_requires_grad();
  return x;
}

// Runs an operation backward; its inputs must have gradients of zero, its result the shape
// `result`.
void check_empty(std::vector<Tensor> inputs, const Shape& result,
                 const std::function<Tensor(std::span<const Tensor>)>& op) {
  const Tensor y = op(inputs);
  CHECK(y.shape() == result);
  backward(y, Tensor::full(result, 1));
  for (const Tensor& x : inputs) {
    REQUIRE(static_cast<bool>(x.grad()));
    for (const real g : elements(x.grad())) CHECK(g == 0);
  }
}

using Inputs = std::span<const Tensor>;

TEST_CASE("empty tensors: element by element") {
  check_empty({leaf({0, 3}), leaf({3})}, {0, 3}, [](Inputs x) { return x[0] + x[1]; });
  check_empty({leaf({3, 0}), leaf({3, 1})}, {3, 0}, [](Inputs x) { return x[0] - x[1]; });
  check_empty({leaf({0}), leaf({})}, {0}, [](Inputs x) { return x[0] * x[1]; });
  check_empty({leaf({0, 1}), leaf({1, 4})}, {0, 4}, [](Inputs x) { return x[0] / x[1]; });
  check_empty({leaf({2, 0})}, {2, 0}, [](Inputs x) { return gelu(tanh(exp(x[0]))); });
  check_empty({leaf({2, 0}), leaf({2, 1})}, {2, 0},
              [](Inputs x) { return where(Ids::empty({0}), x[0], x[1]); });
  check_empty({leaf({0})}, {0}, [](Inputs x) {
    ScopeGuard here;
    here->training = true;
    return dropout(x[0], 0.5);
  });
}

TEST_CASE("empty tensors: reductions") {
  CHECK(sum(Tensor::zeros({0, 3})).item() == 0);
  CHECK(elements(sum(Tensor::zeros({0, 3}), {0})) == std::vector<real>{0, 0, 0});
  check_empty({leaf({0, 3})}, {0}, [](Inputs x) { return sum(x[0], {1}); });
  check_empty({leaf({0, 3})}, {0, 1}, [](Inputs x) { return mean(x[0], {1}, true); });
  check_empty({leaf({0, 3})}, {0}, [](Inputs x) { return max(x[0], {1}); });
  CHECK_THROWS_AS(mean(Tensor::zeros({0, 3})), Error);
  CHECK_THROWS_AS(max(Tensor::zeros({0, 3}), {0}), Error);
}

TEST_CASE("empty tensors: shapes") {
  check_empty({leaf({0, 2, 3})}, {3, 0, 2}, [](Inputs x) { return permute(x[0], {2, 0, 1}); });
  check_empty({leaf({4, 3})}, {4, 0}, [](Inputs x) { return slice(x[0], 1, 2, 2); });
  check_empty({leaf({0, 3}), leaf({0, 2})}, {0, 5}, [](Inputs x) { return concat(x, 1); });
  check_empty({leaf({0, 3}), leaf({0, 3})}, {2, 0, 3}, [](Inputs x) { return stack(x, 0); });
  CHECK(split(Tensor::zeros({0}), {}, 0).empty());
}

TEST_CASE("axes of length 1 in another order") {
  Tensor one = leaf({1, 1, 1}, 3), row = leaf({1, 2, 1}, 3);
  const Tensor y = permute(one, {2, 0, 1}), z = permute(row, {1, 2, 0});
  CHECK(y.item() == 3);
  CHECK(elements(z) == std::vector<real>{3, 3});
  backward(y + sum(z));
  CHECK(one.grad().item() == 1);
  CHECK(elements(row.grad()) == std::vector<real>{1, 1});
}

TEST_CASE("empty tensors: layers") {
  check_empty({leaf({0, 3})}, {0, 3}, [](Inputs x) { return softmax(x[0]); });
  check_empty({leaf({3, 0})}, {3, 0}, [](Inputs x) { return hardmax(x[0]); });
  check_empty({leaf({3, 0})}, {3, 0}, [](Inputs x) { return sum_normalize(x[0]); });
  check_empty({leaf({2, 1, 0, 3})}, {2, 1, 0, 3},
              [](Inputs x) { return masked_fill(x[0], KeepMask{.causal = true}, 0); });
  check_empty({leaf({2, 0, 4})}, {2, 0, 4}, [](Inputs x) { return rotary(x[0], 2); });
  check_empty({leaf({2, 3, 0})}, {2, 3, 0}, [](Inputs x) { return rotary(x[0], 2); });
  check_empty({leaf({0, 3})}, {0, 3},
              [](Inputs x) { return segment_softmax(x[0], Ids::empty({0}), 0); });
  check_empty({leaf({0, 3})}, {2, 3},
              [](Inputs x) { return segment_sum(x[0], Ids::empty({0}), 2); });
  check_empty({leaf({3, 0})}, {3, 0}, [](Inputs x) { return softmax(x[0]); });
  check_empty({leaf({3, 0})}, {3, 0}, [](Inputs x) { return log_softmax(x[0], 0); });
  check_empty({leaf({0, 3}), leaf({3}), leaf({3})}, {0, 3},
              [](Inputs x) { return layer_norm(x[0], x[1], x[2], real{1e-5}); });
  check_empty({leaf({2, 0}), leaf({0})}, {2, 0},
              [](Inputs x) { return rms_norm(x[0], x[1], real{1e-5}); });
  check_empty({leaf({5, 3})}, {0, 3}, [](Inputs x) { return embedding(x[0], Ids::empty({0})); });
  check_empty({leaf({0, 3})}, {}, [](Inputs x) { return cross_entropy(x[0], Ids::empty({0})); });
  check_empty({leaf({0, 3})}, {0},
              [](Inputs x) { return cross_entropy(x[0], Ids::empty({0}), Reduction::none); });
  check_empty({leaf({0, 3}), leaf({2, 3}), leaf({2})}, {0, 2},
              [](Inputs x) { return linear(x[0], x[1], x[2]); });
  check_empty({leaf({0, 3}), leaf({2, 3}), leaf({2})}, {},
              [](Inputs x) { return linear_cross_entropy(x[0], x[1], x[2], Ids::empty({0})); });
  check_empty({leaf({0, 3}), leaf({2, 3}), leaf({2})}, {0}, [](Inputs x) {
    return linear_cross_entropy(x[0], x[1], x[2], Ids::empty({0}), Reduction::none);
  });
  check_empty({leaf({0, 3}), leaf({0, 3})}, {},
              [](Inputs x) { return mse_loss(x[0], x[1], Reduction::sum); });
  check_empty({leaf({0, 3}), leaf({0, 3})}, {0, 3},
              [](Inputs x) { return mse_loss(x[0], x[1], Reduction::none); });
  check_empty({leaf({4, 0}), leaf({0, 5})}, {4, 5}, [](Inputs x) { return matmul(x[0], x[1]); });
  check_empty({leaf({0, 4, 2}), leaf({0, 2, 5})}, {0, 4, 5},
              [](Inputs x) { return matmul(x[0], x[1]); });
  check_empty({leaf({2, 3, 4}), leaf({2, 0, 4}), leaf({2, 0, 4})}, {2, 3, 4},
              [](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], 2); });
  check_empty({leaf({2, 0, 4}), leaf({2, 3, 4}), leaf({2, 3, 4})}, {2, 0, 4},
              [](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], 2); });
}

TEST_CASE("softmax: -inf has weight 0, and a row of only -inf gives zeros and zero gradients") {
  for (const int axis : {0, 1}) {
    Tensor x = Tensor::from({2, 3}, {1, -infinity, 1, -infinity, -infinity, -infinity});
    if (axis == 0) x = transpose(x, 0, 1);
    x.set_requires_grad();
    const auto in_rows = [&](const Tensor& t) {
      return elements(axis == 0 ? transpose(t, 0, 1) : t);
    };
    const Tensor weights = Tensor::full(x.shape(), 3);
    const Tensor y = softmax(x, axis);
    CHECK(in_rows(y) == std::vector<real>{0.5, 0, 0.5, 0, 0, 0});
    backward(sum(y * y * weights));
    CHECK(in_rows(x.grad()) == std::vector<real>{0, 0, 0, 0, 0, 0});

    x.clear_grad();
    const Tensor logs = log_softmax(x, axis);
    const std::vector<real> l = in_rows(logs);
    CHECK(l[0] == doctest::Approx(-std::log(2)));
    for (const size_t hidden : {1, 3, 4, 5}) CHECK(l[hidden] == -infinity);
    backward(logs, weights);
    const std::vector<real> g = in_rows(x.grad());
    CHECK(g[0] == doctest::Approx(3 - 0.5 * 9));
    for (const size_t hidden : {3, 4, 5}) CHECK(g[hidden] == 0);
  }
}

TEST_CASE("softmax: large values do not overflow, NaN gives NaN") {
  const Tensor y = softmax(Tensor::from({2, 2}, {30000, 29999, -30000, -30001}));
  for (const int i : {0, 2}) CHECK(y.data()[i] == doctest::Approx(1 / (1 + std::exp(-1))));
  for (const real v : elements(softmax(Tensor::from({3}, {1, nan, 2})))) CHECK(std::isnan(v));
  CHECK(std::isnan(softmax(Tensor::from({2}, {-infinity, nan})).data()[1]));
  CHECK(std::isnan(softmax(Tensor::from({2, 1}, {-infinity, nan}), 0).data()[1]));
}

TEST_CASE("attention: large scores do not overflow") {
  const Tensor q = Tensor::from({1, 1, 1}, {30000}), k = Tensor::from({1, 2, 1}, {1, 0});
  const Tensor o = scaled_dot_product_attention(q, k, Tensor::from({1, 2, 1}, {5, 7}), 1);
  CHECK(o.item() == 5);
}

TEST_CASE("segment_softmax: -inf has weight 0, large values do not overflow, NaN gives NaN") {
  Tensor x = Tensor::from({7}, {30000, 29999, -infinity, -infinity, -infinity, nan, -infinity});
  x.set_requires_grad();
  const Tensor y = segment_softmax(x, Ids::from({7}, {0, 0, 0, 2, 2, 1, 1}), 3);
  CHECK(y.data()[0] == doctest::Approx(1 / (1 + std::exp(-1))));
  for (const int i : {2, 3, 4}) CHECK(y.data()[i] == 0);
  for (const int i : {5, 6}) CHECK(std::isnan(y.data()[i]));
  backward(y, Tensor::from({7}, {1, 2, 3, 4, 5, 6, 7}));
  for (const int i : {2, 3, 4}) CHECK(x.grad().data()[i] == 0);
}

TEST_CASE("NaN propagates") {
  CHECK(std::isnan(relu(Tensor::scalar(nan)).item()));
  CHECK(std::isnan(max(Tensor::from({3}, {1, nan, 2})).item()));
  CHECK(std::isnan(max(Tensor::from({2, 2}, {1, nan, 2, 0}), {0}).data()[1]));
  CHECK(std::isnan(sum(Tensor::from({2}, {infinity, -infinity})).item()));
  for (const auto op : {tanh, sigmoid, silu, gelu, gelu_tanh, exp})
    CHECK(std::isnan(op(Tensor::scalar(nan)).item()));
  const Tensor all = Tensor::full({1, 2, 4}, nan), k = Tensor::full({1, 2, 4}, 1);
  for (real v : elements(scaled_dot_product_attention(all, k, k, 2))) CHECK(std::isnan(v));
  CHECK(std::isnan(cross_entropy(all, Ids::from({1, 2}, {0, 1})).item()));
}

TEST_CASE("log, sqrt, pow at zero and below") {
  CHECK(log(Tensor::scalar(0)).item() == -infinity);
  CHECK(std::isnan(log(Tensor::scalar(-1)).item()));
  CHECK(std::isnan(sqrt(Tensor::scalar(-1)).item()));
  Tensor x = leaf({}, 0);
  backward(pow(x, 2));
  CHECK(x.grad().item() == 0);
  x.clear_grad();
  backward(pow(x, 0));
  CHECK(x.grad().item() == 0);
  x.clear_grad();
  backward(relu(x));
  CHECK(x.grad().item() == 0);
}

TEST_CASE("max: three equal maxima share the gradient in thirds") {
  Tensor x = Tensor::from({5}, {2, 1, 2, 0, 2});
  x.set_requires_grad();
  backward(mul(max(x), 6));
  CHECK(elements(x.grad()) == std::vector<real>{2, 0, 2, 0, 2});
}

TEST_CASE("sum: long sums in float stay exact to a few units") {
  constexpr int64_t n = 3'000'000;
  Tensor x = Tensor::empty({n});
  double total = 0, every_third = 0;
  real* values_of_x = x.mutable_data();
  for (int64_t i = 0; i < n; ++i) {
    values_of_x[i] = real(0.1) + real(i % 97) / 1000;
    total += values_of_x[i];
    if (i % 3 == 1) every_third += values_of_x[i];
  }
  CHECK(sum(x).item() == doctest::Approx(total).epsilon(1e-6));
  CHECK(sum(x.reshape({n / 3, 3}), {0}).data()[1] == doctest::Approx(every_third).epsilon(1e-6));
}

// Rows are reduced in at most 16 pieces of at least 64 rows of this width. From the longest to the
// shortest, so that a result of more pieces is in memory.
TEST_CASE("sum and max over rows: one more and one fewer than a number of whole pieces") {
  constexpr int64_t width = 256;
  for (const int64_t whole : {1936, 1280, 1024, 960, 512, 192, 128, 64})
    for (const int64_t rows : {whole + 1, whole, whole - 1}) {
      CAPTURE(rows);
      Tensor x = Tensor::full({rows, width}, -2);
      for (int64_t j = 0; j < width; ++j) {
        x.mutable_data()[j] = -1;
        x.mutable_data()[(rows - 1) * width + j] = j % 2 ? real{-4} : real{-0.5};
      }
      const Tensor total = sum(x, {0}), most = max(x, {0});
      for (const int64_t j : {int64_t{0}, int64_t{1}, width - 1}) {
        CHECK(total.data()[j] == static_cast<real>(-1 - 2 * (rows - 2)) - (j % 2 ? 4 : real{0.5}));
        CHECK(most.data()[j] == (j % 2 ? real{-1} : real{-0.5}));
      }
    }
}

TEST_CASE("layer_norm: small differences from a large mean are kept") {
  Tensor x = Tensor::empty({64});
  for (int i = 0; i < 64; ++i) x.mutable_data()[i] = real(4096 + i % 2);
  const Tensor y = layer_norm(x, {}, {}, 0);
  for (int i = 0; i < 64; ++i) CHECK(y.data()[i] == doctest::Approx(i % 2 ? 1 : -1).epsilon(1e-5));
}

TEST_CASE("cross_entropy: ignored targets do not count") {
  Tensor x = Tensor::from({3, 2}, {1, 2, nan, infinity, 3, 5});
  x.set_requires_grad();
  const Tensor some = cross_entropy(x, Ids::from({3}, {1, ignored, 0}), Reduction::sum);
  CHECK(some.item() == doctest::Approx(std::log(1 + std::exp(-1)) + std::log(1 + std::exp(2))));
  backward(some);
  CHECK(x.grad().data()[2] == 0);
  CHECK(x.grad().data()[3] == 0);
  const std::vector<real> gradient = elements(x.grad());

  x.clear_grad();
  const Tensor mean = cross_entropy(x, Ids::from({3}, {1, ignored, 0}));
  CHECK(mean.item() == some.item() / 2);
  backward(mean);
  for (size_t i = 0; i < 6; ++i) CHECK(x.grad().data()[i] == gradient[i] / 2);

  x.clear_grad();
  const Tensor each = cross_entropy(x, Ids::from({3}, {1, ignored, 0}), Reduction::none);
  CHECK(each.data()[1] == 0);
  CHECK(each.data()[0] + each.data()[2] == doctest::Approx(some.item()));
  backward(sum(each));
  CHECK(elements(x.grad()) == gradient);
}

TEST_CASE("cross_entropy: without any target that counts the loss is 0, also as a mean") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const bool fused : {false, true}) {
      Tensor x = Tensor::from({3, 2}, {1, 2, nan, infinity, 3, 5});
      x.set_requires_grad();
      Tensor w = Tensor::from({2, 2}, {1, 0, 0, 1});
      const Ids targets = Ids::full({3}, ignored);
      const Tensor y = fused ? linear_cross_entropy(x, w, {}, targets, reduction, 0.1)
                             : cross_entropy(x, targets, reduction, 0.1);
      for (const real loss : elements(y)) CHECK(loss == 0);
      backward(sum(y));
      CHECK(elements(x.grad()) == std::vector<real>(6, 0));
    }
}

TEST_CASE("cross_entropy: -inf and huge logits") {
  Tensor x =
      Tensor::from({1, 3}, {0, -infinity, 0});  // a class of probability 0 that is not the target
  x.set_requires_grad();
  const Tensor elsewhere = cross_entropy(x, Ids::from({1}, {2}));
  CHECK(elsewhere.item() == doctest::Approx(std::log(2)));
  backward(elsewhere);
  CHECK(elements(x.grad()) == std::vector<real>{0.5, 0, -0.5});
  x.clear_grad();
  const Tensor there = cross_entropy(x, Ids::from({1}, {1}));  // and one that is
  CHECK(there.item() == infinity);
  backward(there);
  CHECK(elements(x.grad()) == std::vector<real>{0.5, -1, 0.5});

  Tensor nothing = leaf({1, 2}, -infinity);
  const Tensor lost = cross_entropy(nothing, Ids::from({1}, {1}));
  CHECK(lost.item() == infinity);
  backward(lost);
  CHECK(elements(nothing.grad()) == std::vector<real>{0, 0});

  CHECK(cross_entropy(Tensor::from({1, 2}, {30000, 0}), Ids::from({1}, {1})).item() == 30000);
  CHECK(std::isnan(cross_entropy(Tensor::from({1, 2}, {nan, 0}), Ids::from({1}, {1})).item()));
}

// Probabilities are powers of two, so that every logarithm is an integer number of bits.
TEST_CASE("cross_entropy: the conventions of label smoothing, computed by hand") {
  const std::array<real, 4> probability{0.5, 0.25, 0.125, 0.125};
  struct Convention {
    Smoothing over;
    std::array<double, 4> p;  // for ε = 0.1 and target 1; class 3 is never a target
    double bits;              // 1 p₀ + 2 p₁ + 3 p₂ + 3 p₃
  };
  for (const Convention& c :
       {Convention{Smoothing::vocabulary, {0.025, 0.925, 0.025, 0.025}, 2.025},
        Convention{Smoothing::others, {0.1 / 3, 0.9, 0.1 / 3, 0.1 / 3}, 1.8 + 0.7 / 3},
        Convention{Smoothing::possible_others, {0.05, 0.9, 0.05, 0}, 2}}) {
    const Tensor probabilities = Tensor::from({1, 4}, probability);
    Tensor x = add(log(probabilities), 5);
    x.set_requires_grad();
    const Tensor y = cross_entropy(x, Ids::from({1}, {1}), Reduction::mean, {0.1, c.over, 3});
    CHECK(y.item() == doctest::Approx(c.bits * std::log(2)).epsilon(1e-6));
    backward(y);
    for (size_t v = 0; v < 4; ++v)
      CHECK(std::fabs(x.grad().data()[v] - (probability[v] - c.p[v])) < 1e-6);
  }
}

TEST_CASE("cross_entropy: a class with p = 0 may have a logit of -inf") {
  const Tensor x = Tensor::from({1, 4}, {0, 0, 0, -infinity});
  CHECK(cross_entropy(x, Ids::from({1}, {0}), Reduction::mean, {0.1, Smoothing::possible_others, 3})
            .item() == doctest::Approx(std::log(3)));
  CHECK(cross_entropy(x, Ids::from({1}, {3}), Reduction::mean, {1, Smoothing::others}).item() ==
        doctest::Approx(std::log(3)));
  CHECK(cross_entropy(x, Ids::from({1}, {0}), Reduction::mean, {0.1, Smoothing::others}).item() ==
        infinity);
}

TEST_CASE("dropout: only in training, with the requested probability, and the mean is kept") {
  const Tensor x = Tensor::full({100000}, 1);
  CHECK(dropout(x, 0.3).same_as(x));
  ScopeGuard here;
  here->training = true;
  here->calls = 0;
  CHECK(dropout(x, 0).same_as(x));
  CHECK(scope().calls == 0);  // nothing was drawn
  const Tensor y = dropout(x, 0.3), z = dropout(x, 0.3);
  int64_t zeros = 0, different = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    zeros += y.data()[i] == 0;
    different += y.data()[i] != z.data()[i];
  }
  CHECK(std::fabs(double(zeros) / 1e5 - 0.3) < 4 * std::sqrt(0.3 * 0.7 / 1e5));
  CHECK(std::fabs(double(different) / 1e5 - 0.42) < 0.01);
  CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.01));
}

// A loop computes most elements in vectors and the last ones singly, and threads cut some loops
// where they like.
TEST_CASE("elementwise: an element has the same bits at every position of an array") {
  Tensor (*const functions[])(const Tensor&) = {
      exp, tanh, sigmoid, silu, gelu, gelu_tanh, [](const Tensor& x) { return x * x + x; }};
  for (const auto function : functions) {
    // y and the gradient of Σ y³
    const auto results = [&](const Tensor& values) {
      Tensor x = Tensor::from(values.shape(), elements(values)).set_requires_grad();
      const Tensor y = function(x);
      backward(sum(y * y * y));
      return std::pair(elements(y), elements(x.grad()));
    };
    const Tensor all = drawn({67}, 0);
    const auto [y, dx] = results(all);
    for (int64_t n = 1; n < all.size(); ++n) {
      const auto [last_y, last_dx] = results(slice(all, 0, all.size() - n, all.size()));
      CHECK(std::equal(last_y.begin(), last_y.end(), y.end() - n));
      CHECK(std::equal(last_dx.begin(), last_dx.end(), dx.end() - n));
    }
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
