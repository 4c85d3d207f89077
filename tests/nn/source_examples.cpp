// Attention in numbers that were worked out elsewhere: examples of the lecture notes and books that
// this library follows, and of Keras. Where they print two or three digits, the digits here are
// those of the same formula in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/ops.h"
#include "core/random.h"
#include "nn/attention.h"
#include "support.h"

using namespace heed;
using heed::testing::rounding;

namespace {

Tensor tensor(const Shape& shape, const std::vector<double>& numbers) {
  const std::vector<real> values(numbers.begin(), numbers.end());
  return Tensor::from(shape, values);
}

Tensor random_tensor(const Shape& shape, uint32_t stream) {
  Random random(7, Purpose::test, 0, 0, stream);
  std::vector<double> numbers(static_cast<size_t>(shape.size()));
  for (double& number : numbers) number = 2 * random.uniform() - 1;
  return tensor(shape, numbers);
}

void check_numbers(const Tensor& got, const std::vector<double>& wanted) {
  REQUIRE(got.size() == static_cast<int64_t>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    const auto number = static_cast<double>(got.values()[i]);
    CHECK(std::abs(number - wanted[i]) <= rounding * std::max(1.0, std::abs(wanted[i])));
  }
}

void check_same(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  check_numbers(got, {wanted.values().begin(), wanted.values().end()});
}

// Similarities with no numbers of their own.
Tensor scores_of(SimilarityKind kind, const Tensor& q, const Tensor& k) {
  SimilarityOptions options;
  options.kind = kind;
  return Similarity(options, q.dim(1), q.dim(3), k.dim(3))(q, k);
}

void set(const Module& module, const std::string& name, const Tensor& value) {
  for (const NamedParameter& p : module.parameters())
    if (p.name == name) {
      REQUIRE(p.tensor.shape() == value.shape());
      std::copy_n(value.data(), value.size(), Tensor(p.tensor).mutable_data());
      return;
    }
  FAIL("no parameter ", name);
}

// "The sleepy child reads a book": six words as keys of width 3, and a value each (White, "Deep
// learning for molecules and materials", equations 12.1 and 12.2).
const std::vector<double> words = {0, 0, 0, 2, 0, 1, 1, -1, -2, 2, 3, 1, -2, 0, 0, 0, 2, 1};
const std::vector<double> sentiments = {0, -0.2, 0.3, 0.4, 0, 0.1};

Tensor keys() { return tensor({1, 1, 6, 3}, words); }
Tensor book() { return tensor({1, 1, 1, 3}, {0, 2, 1}); }  // the query

// What each of the six words reads of the sentiments, through the layer that models use: its
// context is a key and a value side by side, and its matrices take them apart.
Tensor readings(const std::function<void(MultiHeadOptions&)>& change) {
  AttentionSetup setup;
  setup.context_dim = 4;
  setup.linear.bias = false;
  setup.form.similarity.kind = SimilarityKind::dot;
  setup.form.key_dim = 3;
  setup.form.value_dim = 1;
  setup.form.project_query = false;
  change(setup.form);
  const MultiHeadAttention attention(3, 1, setup);
  set(attention, "key.weight", tensor({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  set(attention, "value.weight", tensor({1, 4}, {0, 0, 0, 1}));
  set(attention, "output.weight", tensor({3, 1}, {1, 0, 0}));
  const Tensor x = keys().reshape({1, 6, 3});
  const std::vector<Tensor> both = {x, tensor({1, 6, 1}, sentiments)};
  return slice(attention(x, concat(both, -1), {}), -1, 0, 1);
}

double reading_of_book(const std::function<void(MultiHeadOptions&)>& change) {
  return static_cast<double>(readings(change).data()[5]);
}

void nothing_else(MultiHeadOptions&) {}

double entropy(const Tensor& weights) {
  double sum = 0;
  for (const real w : weights.values())
    if (w > 0) sum -= static_cast<double>(w) * std::log(static_cast<double>(w));
  return sum;
}

// A random order of n places as a matrix: P[i, order[i]] = 1.
Tensor permutation(int64_t n, uint32_t stream) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  Random random(7, Purpose::test, 1, 0, stream);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  std::vector<double> matrix(static_cast<size_t>(n * n), 0);
  for (size_t i = 0; i < order.size(); ++i)
    matrix[i * order.size() + static_cast<size_t>(order[i])] = 1;
  return tensor({n, n}, matrix);
}

}  // namespace

TEST_CASE("the sleepy child reads a book: scores and weights of the word \"book\"") {
  const Tensor scores = scores_of(SimilarityKind::dot, book(), keys());
  const std::vector<real> wanted = {0, 1, -4, 7, 0, 5};
  CHECK(std::equal(wanted.begin(), wanted.end(), scores.values().begin()));
  // The book rounds to [0, 0, 0, 0.88, 0, 0.12].
  check_numbers(attention_weights(scores, {}),
                {0.00080013895853, 0.00217500319122, 0.00001465505623, 0.87745891327845,
                 0.00080013895853, 0.11875115055703});
  check_numbers(attention_weights(scores_of(SimilarityKind::scaled_dot, book(), keys()), {}),
                {0.01270252729984, 0.02262716652118, 0.00126162414754, 0.72288695753809,
                 0.01270252729984, 0.22781919719350});
}

TEST_CASE("the sleepy child reads a book: what every word reads") {
  // "The" is zero, so its scores are equal and it reads the mean, 0.1; "book" reads 0.36.
  check_numbers(readings(nothing_else), {0.1, 0.10032553218917, 0.29793092131056, 0.39965240685351,
                                         0.00254119105973, 0.36242807624571});
  check_numbers(
      readings([](MultiHeadOptions& o) { o.similarity.kind = SimilarityKind::scaled_dot; }),
      {0.1, 0.10226582940319, 0.27403763932139, 0.39146508333138, 0.01704073629112,
       0.30778975667461});
}

TEST_CASE("hard attention reads the best word alone, and ties share it equally") {
  const auto weights = [](const Tensor& scores) {
    const Tensor all = attention_weights(scores, {}, {NormaliserKind::hardmax, false, false});
    return std::vector<double>(all.values().begin(), all.values().end());
  };
  CHECK(weights(scores_of(SimilarityKind::dot, book(), keys())) ==
        std::vector<double>{0, 0, 0, 1, 0, 0});  // "reads"
  CHECK(weights(tensor({1, 1, 1, 4}, {2, -1, 2, 0})) == std::vector<double>{0.5, 0, 0.5, 0});
  const auto hard = [](MultiHeadOptions& o) { o.normaliser = NormaliserKind::hardmax; };
  // For "The" all are best: their mean. "sleepy" is pulled to itself and to "reads" alike.
  check_numbers(readings(hard), {0.1, 0.1, 0.3, 0.4, 0, 0.4});
}

TEST_CASE("temperature leads from hard attention over soft to uniform attention") {
  struct Row {
    double temperature, reading, entropy;
  };
  const Row rows[] = {
      {0.25, 0.39989939493767, 0.00301820840008}, {0.5, 0.39459990490827, 0.09019715699761},
      {1, 0.36242807624571, 0.39264061851237},    {2, 0.28880823511795, 0.90025662149893},
      {5, 0.17085310484922, 1.55322830518219},    {10, 0.12778159720153, 1.72743804706792},
      {100, 0.10178769046746, 1.79111184911656},  {1e4, 0.10001667883274, 1.79175940464272}};
  const Tensor scores = scores_of(SimilarityKind::dot, book(), keys());
  for (const Row& row : rows) {
    CAPTURE(row.temperature);
    const double reading =
        reading_of_book([&](MultiHeadOptions& o) { o.temperature.initial = row.temperature; });
    CHECK(std::abs(reading - row.reading) <= rounding);
    const Tensor divided = mul(scores, static_cast<real>(1 / row.temperature));
    CHECK(std::abs(entropy(attention_weights(divided, {})) - row.entropy) <= rounding);
  }
  // The limits: the value of "reads", and the mean of all with the entropy ln 6.
  const auto at = [](double temperature) {
    return reading_of_book([=](MultiHeadOptions& o) { o.temperature.initial = temperature; });
  };
  CHECK(std::abs(at(1e-3) - 0.4) <= rounding);
  CHECK(std::abs(at(1e6) - 0.1) <= 1e-6);
  CHECK(rows[7].entropy == doctest::Approx(std::log(6.0)).epsilon(1e-7));
}

TEST_CASE("raw scores as weights may be negative: normalised by their sum they are no mean") {
  // The scores 0, 1, -4, 7, 0, 5 add up to 9.
  const Tensor scores = scores_of(SimilarityKind::dot, book(), keys());
  check_numbers(attention_weights(scores, {}, {NormaliserKind::sum, false, false}),
                {0, 1 / 9.0, -4 / 9.0, 7 / 9.0, 0, 5 / 9.0});
  // -1·0.2 - 4·0.3 + 7·0.4 + 5·0.1, over their sum, over their number, and as it is.
  const auto reading = [](NormaliserKind kind) {
    return reading_of_book([=](MultiHeadOptions& o) { o.normaliser = kind; });
  };
  CHECK(reading(NormaliserKind::sum) == doctest::Approx(1.9 / 9).epsilon(rounding));
  CHECK(reading(NormaliserKind::count) == doctest::Approx(1.9 / 6).epsilon(rounding));
  CHECK(reading(NormaliserKind::none) == doctest::Approx(1.9).epsilon(rounding));
}

TEST_CASE("exponentials normalised by their sum are the softmax") {
  KeepMask mask;
  mask.causal = true;
  for (const SimilarityKind kind : {SimilarityKind::embedded_gaussian, SimilarityKind::gaussian}) {
    const Tensor q = random_tensor({2, 3, 5, 4}, 1), k = random_tensor({2, 3, 6, 4}, 2);
    const Tensor scores = scores_of(kind, q, k);
    REQUIRE(is_exponential(kind));
    const Tensor softmax_weights = attention_weights(scores, mask);
    const Tensor f = attention_weights(scores, mask, {NormaliserKind::none, false, true});
    check_same(f / sum(f, {-1}, true), softmax_weights);
    check_same(attention_weights(scores, mask, {NormaliserKind::sum, false, true}),
               softmax_weights);
  }
  check_same(readings([](MultiHeadOptions& o) {
               o.similarity.kind = SimilarityKind::embedded_gaussian;
               o.normaliser = NormaliserKind::sum;
             }),
             readings(nothing_else));
}

TEST_CASE("columns for rows: W_V V softmax((W_K K)ᵀ W_Q Q) is the transpose of attention") {
  AttentionSetup setup;
  setup.context_dim = 4;
  setup.linear.bias = false;
  setup.form.similarity.kind = SimilarityKind::dot;
  setup.form.combine = Combine::concat;
  setup.form.key_dim = 2;
  setup.form.value_dim = 3;
  const MultiHeadAttention attention(3, 1, setup);
  const Tensor wq = random_tensor({2, 3}, 1), wk = random_tensor({2, 4}, 2);
  const Tensor wv = random_tensor({3, 4}, 3);
  set(attention, "query.weight", wq);
  set(attention, "key.weight", wk);
  set(attention, "value.weight", wv);
  // Three queries of width 3 and five keys of width 4, a vector a column (Ji, Xie and Gao, "A
  // mathematical view of attention models in deep learning", equation 2).
  const Tensor q = random_tensor({3, 3}, 4), c = random_tensor({4, 5}, 5);
  const Tensor columns =
      matmul(matmul(wv, c), softmax(matmul(transpose(matmul(wk, c), 0, 1), matmul(wq, q)), 0));
  const Tensor rows =
      attention(transpose(q, 0, 1).reshape({1, 3, 3}), transpose(c, 0, 1).reshape({1, 5, 4}), {});
  check_same(rows.reshape({3, 3}), transpose(columns, 0, 1));
}

TEST_CASE("softmax follows a permutation of rows and columns") {
  // softmax(Pᵀ M P) = Pᵀ softmax(M) P: the lemma behind the equivariance of self-attention (Ji, Xie
  // and Gao, section 6).
  for (uint32_t stream = 0; stream < 20; ++stream) {
    const Tensor p = permutation(7, stream), pt = transpose(p, 0, 1);
    const Tensor m = random_tensor({7, 7}, stream);
    const auto weights = [](const Tensor& scores) {
      return attention_weights(scores.reshape({1, 1, 7, 7}), {}).reshape({7, 7});
    };
    check_same(weights(matmul(matmul(pt, m), p)), matmul(matmul(pt, weights(m)), p));
  }
}

TEST_CASE("four words in NumPy: a word that is the sum of two has the sum of their projections") {
  // [1 0 0], [0 1 0], [1 1 0], [0 0 1], d = 3, dₖ = dᵥ = 2, scores over √2 (Pitié, handout 10).
  AttentionSetup setup;
  setup.linear.bias = false;
  setup.form.combine = Combine::concat_projection;
  setup.form.key_dim = setup.form.value_dim = 2;
  const MultiHeadAttention attention(3, 1, setup);
  const Tensor x = tensor({4, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1});
  const Tensor w[] = {random_tensor({2, 3}, 1), random_tensor({2, 3}, 2), random_tensor({2, 3}, 3)};
  const char* const names[] = {"query.weight", "key.weight", "value.weight"};
  Tensor projected[3];
  for (size_t i = 0; i < 3; ++i) {
    set(attention, names[i], w[i]);
    projected[i] = linear(x, w[i]);
    const auto row = [&](int64_t t) { return slice(projected[i], 0, t, t + 1); };
    check_same(row(2), row(0) + row(1));
  }
  set(attention, "output.weight", tensor({3, 2}, {1, 0, 0, 1, 0, 0}));
  // What word 1 reads, step by step as the handout has it.
  const auto at = [&](size_t i, int64_t t, int64_t c) {
    return static_cast<double>(projected[i].data()[2 * t + c]);
  };
  double total = 0, reading[2] = {0, 0};
  for (int64_t t = 0; t < 4; ++t) {
    const double score = at(0, 0, 0) * at(1, t, 0) + at(0, 0, 1) * at(1, t, 1);
    const double weight = std::exp(score / std::sqrt(2.0));
    total += weight;
    for (int64_t c = 0; c < 2; ++c) reading[c] += weight * at(2, t, c);
  }
  const Tensor y = attention(x.reshape({1, 4, 3}), SequenceContext{});
  check_numbers(slice(y.reshape({4, 3}), 0, 0, 1), {reading[0] / total, reading[1] / total, 0});
}

TEST_CASE("Keras' examples of attention and additive attention") {
  // keras/layers/attention: test_attention_basics of both layers, where vᵀ is a row of ones.
  const Tensor q = tensor({1, 1, 2, 2}, {1, 0, 0, 1}), k = tensor({1, 1, 2, 2}, {0, 1, 1, 0});
  const Tensor v = tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  check_numbers(matmul(attention_weights(scores_of(SimilarityKind::dot, q, k), {}), v),
                {2.46211715726001, 3.46211715726001, 1.53788284273999, 2.53788284273999});
  SimilarityOptions additive;
  additive.kind = SimilarityKind::additive;
  const Similarity similarity(additive, 1, 2, 2);
  set(similarity, "weight", tensor({1, 1, 2}, {1, 1}));
  check_numbers(matmul(attention_weights(similarity(q, k), {}), v),
                {1.72748334481446, 2.72748334481446, 2.27251665518554, 3.27251665518554});
}

TEST_CASE("parameters of Keras' MultiHeadAttention(num_heads=2, key_dim=2, value_dim=3)") {
  const auto count = [](int64_t dim, bool bias) {
    AttentionSetup setup;
    setup.linear.bias = bias;
    setup.form.key_dim = 2;
    setup.form.value_dim = 3;
    const MultiHeadAttention attention(dim, 2, setup);
    CHECK(attention(random_tensor({1, 4, dim}, 1), SequenceContext{}).shape() == Shape{1, 4, dim});
    return attention.parameter_count();
  };
  CHECK(count(3, true) == 77);
  CHECK(count(3, false) == 60);
  CHECK(count(4, true) == 98);
  CHECK(count(4, false) == 80);
  CHECK(count(16, true) == 350);
  CHECK(count(16, false) == 320);
}

TEST_CASE("wide heads have as many times the weights of narrow ones as there are heads") {
  // Bloem, "Transformers from scratch": all of D for each head, or a piece of D.
  const auto count = [](HeadWidth width, int64_t heads) {
    AttentionSetup setup;
    setup.linear.bias = false;
    setup.form.head_width = width;
    return MultiHeadAttention(8, heads, setup).parameter_count();
  };
  for (const int64_t heads : {1, 2, 4, 8}) {
    CHECK(count(HeadWidth::narrow, heads) == 4 * 8 * 8);
    CHECK(count(HeadWidth::wide, heads) == heads * 4 * 8 * 8);
  }
}
