// What the documents claim of attention, on random data. (S0 … S4: see docs/sources.md.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/autograd.h"
#include "core/ops.h"
#include "nn/block.h"
#include "nn/gru.h"
#include "nn/time_dense.h"

using namespace heed;

namespace {

#ifdef HEED_DOUBLE
constexpr double rounding = 1e-12;
#else
constexpr double rounding = 5e-6;
#endif
constexpr double different = 1e-2;

Tensor normal(const Shape& shape, uint32_t stream) {
  Random random(11, Purpose::test, 0, 0, stream);
  Tensor x = Tensor::empty(shape);
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<real>(random.normal());
  return x;
}

// A permutation of n things (Fisher & Yates).
Ids random_permutation(int64_t n, Random& random) {
  Ids order = Ids::empty({n});
  std::iota(order.data(), order.data() + n, 0);
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(order.data()[i], order.data()[random.below(static_cast<uint64_t>(i + 1))]);
  return order;
}

// Place t of the result is place order[t] of x (1, T, D): T(X) = X P of S0, definition 1.
Tensor permuted(const Tensor& x, const Ids& order) {
  return embedding(x.reshape({x.dim(1), x.dim(2)}), order).reshape(x.shape());
}

// ‖a - b‖ / ‖b‖
double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  double difference = 0, size = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
    size += std::pow(static_cast<double>(b.data()[i]), 2);
  }
  return std::sqrt(difference / size);
}

AttentionSetup basic(SimilarityKind similarity) {  // without a parameter
  AttentionSetup setup;
  setup.form.project_query = setup.form.project_key = setup.form.project_value = false;
  setup.form.combine = Combine::concat;
  setup.form.similarity.kind = similarity;
  return setup;
}

}  // namespace

TEST_CASE("a permutation is undone by its transpose") {
  Random random(1, Purpose::test);
  const int64_t n = 7;
  const Ids order = random_permutation(n, random);
  Tensor p = Tensor::zeros({n, n});  // column t is the unit vector of order[t]
  for (int64_t t = 0; t < n; ++t) p.mutable_data()[order[t] * n + t] = 1;
  const Tensor once = matmul(p, transpose(p, 0, 1)), again = matmul(transpose(p, 0, 1), p);
  for (int64_t i = 0; i < n * n; ++i) {
    CHECK(once.data()[i] == (i % (n + 1) == 0));
    CHECK(again.data()[i] == (i % (n + 1) == 0));
  }
  const Tensor x = normal({1, n, 3}, 1);
  CHECK(distance(permuted(x, order), transpose(matmul(transpose(x, 1, 2), p), 1, 2)) ==
        0);  // X P, by columns
}

// S0, theorem 1.
TEST_CASE("self-attention follows a permutation of its places; learned queries do not mind one") {
  const MultiHeadAttention attention(6, 2);
  const LearnedQueries queries(2, 6, 2);
  const Tensor x = normal({1, 8, 6}, 1);
  const Tensor y = attention(x, SequenceContext{}), z = queries(x, {});
  Random random(2, Purpose::test);
  for (int i = 0; i < 1000; ++i) {
    const Ids order = random_permutation(8, random);
    const Tensor turned = permuted(x, order);
    REQUIRE(distance(attention(turned, SequenceContext{}), permuted(y, order)) <= rounding);
    REQUIRE(distance(queries(turned, {}), z) <= rounding);
  }
}

TEST_CASE("positions break both") {
  const MultiHeadAttention attention(6, 2);
  const LearnedQueries queries(2, 6, 2);
  const PositionalEncoding positions(6, {PositionalKind::sinusoidal}, 1);
  const Tensor x = normal({1, 8, 6}, 1);
  Random random(2, Purpose::test);
  const Ids order = random_permutation(8, random);
  const Tensor placed = positions(x), turned = positions(permuted(x, order));
  CHECK(distance(attention(turned, SequenceContext{}),
                 permuted(attention(placed, SequenceContext{}), order)) >= different);
  CHECK(distance(queries(turned, {}), queries(placed, {})) >= different);
}

// S4's exercise.
TEST_CASE("keys and values may be shuffled together, not apart") {
  const MultiHeadAttention attention(6, 2);
  const Tensor x = normal({1, 3, 6}, 1), k = normal({1, 8, 6}, 2), v = normal({1, 8, 6}, 3);
  Random random(3, Purpose::test);
  const Ids order = random_permutation(8, random);
  const Tensor y = attention(x, k, v, {}, {});
  CHECK(distance(attention(x, permuted(k, order), permuted(v, order), {}, {}), y) <= rounding);
  CHECK(distance(attention(x, permuted(k, order), v, {}, {}), y) >= different);
}

TEST_CASE("there are as many outputs as queries, and each depends on every input") {
  const MultiHeadAttention attention(4, 2);
  for (const int64_t queries : {1, 3, 64}) {  // a grid of 8 × 8 that reads one of 4 × 4
    Tensor context = normal({1, 16, 4}, 2).set_requires_grad();
    const Tensor y = attention(normal({1, queries, 4}, 1), context, {});
    REQUIRE(y.shape() == Shape{1, queries, 4});
    backward(sum(slice(y, 1, queries - 1, queries) * normal({4}, 5)));
    for (int64_t i = 0; i < 16; ++i) {
      double size = 0;
      for (int64_t c = 0; c < 4; ++c)
        size += std::abs(static_cast<double>(context.grad().data()[i * 4 + c]));
      CHECK(size > 1e-6);
    }
  }
}

TEST_CASE("attention is a weighted mean: it stays within the values") {
  const MultiHeadAttention attention(4, 1, basic(SimilarityKind::dot));
  const Tensor q = normal({1, 5, 4}, 1), k = normal({1, 7, 4}, 2), v = normal({1, 7, 4}, 3);
  const Tensor y = attention(q, k, v, {}, {});
  for (int64_t c = 0; c < 4; ++c) {
    real least = v.data()[c], most = least;
    for (int64_t j = 1; j < 7; ++j) {
      least = std::min(least, v.data()[j * 4 + c]);
      most = std::max(most, v.data()[j * 4 + c]);
    }
    for (int64_t i = 0; i < 5; ++i) {
      CHECK(y.data()[i * 4 + c] >= least);
      CHECK(y.data()[i * 4 + c] <= most);
    }
  }
}

// S2; S1 gives another reason, the length of a vector.
TEST_CASE("products of random queries and keys vary as their width, scaled ones as 1") {
  for (const int64_t width : {1, 8, 64, 512}) {
    const int64_t pairs = 4000;
    const Tensor products = sum(normal({pairs, width}, 1) * normal({pairs, width}, 2), {1});
    double squares = 0;
    for (int64_t i = 0; i < pairs; ++i)
      squares += std::pow(static_cast<double>(products.data()[i]), 2);
    // The variance of a variance from n numbers is about (2 + 6 / width) σ⁴ / n: six of these.
    const double spread = 6 * std::sqrt((2 + 6 / static_cast<double>(width)) / pairs);
    CHECK(squares / pairs / static_cast<double>(width) == doctest::Approx(1).epsilon(spread));
  }
}

TEST_CASE("without the scale a softmax saturates and the gradient of most rows vanishes") {
  const auto median_gradient = [](real scale) {
    Tensor scores = sum(normal({64, 1, 512}, 1) * normal({64, 16, 512}, 2), {2});  // (64, 16)
    scores = mul(scores, scale).set_requires_grad();
    backward(sum(softmax(scores) * normal({64, 16}, 3)));
    std::vector<double> sizes;
    for (int64_t row = 0; row < 64; ++row) {
      const real* g = scores.grad().data() + row * 16;
      sizes.push_back(std::sqrt(std::inner_product(g, g + 16, g, 0.0)));
    }
    std::nth_element(sizes.begin(), sizes.begin() + 32, sizes.end());
    return sizes[32];
  };
  CHECK(median_gradient(1) < median_gradient(1 / std::sqrt(real{512})) / 10);
}

// S4's table, for one head of width K = V without biases and output projection, and what it leaves
// out: the products of the values, and the other weights of recurrent and dense layers.
TEST_CASE("parameters are those of the table") {
  const int64_t d = 12, length = 9;
  const LinearOptions plain{false};
  AttentionSetup setup;
  setup.linear = plain;
  setup.form.combine = Combine::concat;
  CHECK(MultiHeadAttention(d, 1, setup).parameter_count() == 2 * d * d + d * d);
  CHECK(Convolution(d, 3, Padding::zero, false, plain).parameter_count() == 3 * d * d);
  CHECK(Gru(d, plain).parameter_count() == 3 * (d * d + d * d));  // three gates
  CHECK(TimeDense(d, length, plain).parameter_count() == length * length + 2 * d * d);
}

TEST_CASE("layers of attention in a window reach further the more there are, as convolutions do") {
  BlockOptions options;
  options.dim = 4;
  options.heads = 2;
  options.feed_forward = 4;
  KeepMask window;
  window.window = 2;  // one place to each side
  for (const int64_t layers : {1, 2, 3}) {
    const Encoder encoder(options, layers);
    const Tensor x = normal({1, 9, 4}, 1);
    Tensor changed = x.clone();
    changed.mutable_data()[4 * 4] += 1;
    const Tensor before = encoder(x, SequenceContext{window, {}}),
                 after = encoder(changed, SequenceContext{window, {}});
    for (int64_t t = 0; t < 9; ++t) {
      const double moved = distance(slice(after, 1, t, t + 1), slice(before, 1, t, t + 1));
      if (std::abs(t - 4) <= layers)
        CHECK(moved > 1e-4);
      else
        CHECK(moved == 0);
    }
  }
}

// S2: features for queries and keys, labels for values. What it foretells at a training point leans
// on that point's own label, which is why this is for showing and not for training.
TEST_CASE("attention to labels by distance is kernel regression (Nadaraya & Watson 1964)") {
  const MultiHeadAttention attention(3, 1, [] {
    AttentionSetup setup = basic(SimilarityKind::gaussian);
    setup.form.similarity.sigma = 0.8;
    setup.form.normaliser = NormaliserKind::sum;
    return setup;
  }());
  const Tensor points = normal({1, 10, 3}, 1), labels = normal({1, 10, 3}, 2);
  const Tensor at = normal({1, 4, 3}, 3);
  const Tensor found = attention(at, points, labels, {}, {});
  for (int64_t i = 0; i < 4; ++i) {
    double weights = 0, total = 0;
    for (int64_t j = 0; j < 10; ++j) {
      double squares = 0;
      for (int64_t c = 0; c < 3; ++c)
        squares +=
            std::pow(static_cast<double>(at.data()[i * 3 + c]) - points.data()[j * 3 + c], 2);
      const double weight = std::exp(-squares / (2 * 0.8 * 0.8));
      weights += weight;
      total += weight * labels.data()[j * 3];
    }
    CHECK(found.data()[i * 3] == doctest::Approx(total / weights).epsilon(rounding * 100));
  }
}
