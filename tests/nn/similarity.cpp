// Every similarity and every normaliser against its formula, written out in loops.
#include "nn/forms/similarity.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "gradient_check.h"
#include "nn/forms/normaliser.h"
#include "support.h"

using namespace heed;
using namespace heed::testing;

namespace {

double at(const Tensor& x, int64_t a, int64_t b, int64_t c, int64_t d) {
  return x.data()[((a * x.dim(1) + b) * x.dim(2) + c) * x.dim(3) + d];
}

// The score of one query (b, h, i) and one key (b, h, j), by its formula.
double score_of(const SimilarityRule* kind, const Tensor& q, const Tensor& k, const Tensor& w,
                const Tensor& inner, double sigma, int64_t b, int64_t h, int64_t i, int64_t j) {
  const int64_t query_width = q.dim(3), key_width = k.dim(3);
  const auto qs = [&](int64_t c) { return at(q, b, h, i, c); };
  const auto ks = [&](int64_t c) { return at(k, b, h, j, c); };
  const auto ws = [&](int64_t r, int64_t c) {
    return static_cast<double>(w.data()[(h * w.dim(1) + r) * w.dim(2) + c]);
  };
  double dot = 0, qq = 0, kk = 0, distance = 0, additive = 0, general = 0, concat = 0;
  for (int64_t c = 0; c < std::min(query_width, key_width); ++c) {
    dot += qs(c) * ks(c);
    distance += (qs(c) - ks(c)) * (qs(c) - ks(c));
    if (kind == &similarities::additive) additive += ws(0, c) * std::tanh(qs(c) + ks(c));
  }
  for (int64_t c = 0; c < query_width; ++c) {
    qq += qs(c) * qs(c);
    if (kind == &similarities::concat) concat += ws(0, c) * qs(c);
    if (kind == &similarities::general)
      for (int64_t d = 0; d < key_width; ++d) general += qs(c) * ws(c, d) * ks(d);
  }
  for (int64_t c = 0; c < key_width; ++c) {
    kk += ks(c) * ks(c);
    if (kind == &similarities::concat) concat += ws(0, query_width + c) * ks(c);
  }
  if (kind == &similarities::scaled_dot) return dot / std::sqrt(static_cast<double>(key_width));
  if (kind == &similarities::gaussian) return -distance / (2 * sigma * sigma);
  if (kind == &similarities::cosine) return dot / std::sqrt(qq * kk);
  if (kind == &similarities::additive) return additive;
  if (kind == &similarities::luong_concat) {
    double sum = 0;
    for (int64_t r = 0; r < inner.dim(1); ++r) {
      double hidden = 0;
      for (int64_t c = 0; c < query_width + key_width; ++c)
        hidden += at(inner.reshape({1, inner.dim(0), inner.dim(1), inner.dim(2)}), 0, h, r, c) *
                  (c < query_width ? qs(c) : ks(c - query_width));
      sum += ws(0, r) * std::tanh(hidden);
    }
    return sum;
  }
  if (kind == &similarities::general) return general;
  if (kind == &similarities::concat) return concat;
  return dot;
}

// Causal, the second example has two real keys, and one more is hidden by hand.
KeepMask some_mask() {
  KeepMask mask;
  mask.causal = true;
  mask.key_lengths = Ids::from({2}, {4, 2});
  mask.dense = Ids::full({1, 1, 3, 4}, 1);
  mask.dense.mutable_data()[5] = 0;
  return mask;
}

// One row of weights by the formulas of nn/forms/normaliser.h.
std::vector<double> weights_of(const NormaliserRule* kind, bool exponential, std::vector<double> s,
                               const std::vector<bool>& kept) {
  double most = -1e300, total = 0, exponentials = 0, ties = 0, count = 0;
  for (size_t j = 0; j < s.size(); ++j)
    if (kept[j]) most = std::max(most, s[j]);
  for (size_t j = 0; j < s.size(); ++j) {
    if (!kept[j]) continue;
    exponentials += std::exp(s[j]);
    ties += s[j] == most;
    total += exponential ? std::exp(s[j]) : s[j];
    ++count;
  }
  std::vector<double> w(s.size(), 0);
  for (size_t j = 0; j < s.size(); ++j) {
    if (!kept[j]) continue;
    const double f = exponential ? std::exp(s[j]) : s[j];
    if (kind == &normalisers::softmax) w[j] = std::exp(s[j]) / exponentials;
    if (kind == &normalisers::hardmax) w[j] = s[j] == most ? 1 / ties : 0;
    if (kind == &normalisers::sum) w[j] = std::abs(total) <= 1e-6 ? 0 : f / total;
    if (kind == &normalisers::count) w[j] = f / count;
    if (kind == &normalisers::none) w[j] = f;
  }
  return w;
}

}  // namespace

TEST_CASE("every similarity matches its formula, with the right gradients") {
  for (const SimilarityRule* kind : similarities::all) {
    CAPTURE(std::string(kind->name));
    const bool two_widths = kind->any_widths;
    MultiHeadAttentionOptions options;
    options.similarity = kind;
    options.sigma = 0.7;
    const Similarity similarity(options, 2, two_widths ? 5 : 4, 4);
    const Tensor q = random_tensor({2, 2, 3, two_widths ? 5 : 4}, 1);
    const Tensor k = random_tensor({2, 2, 4, 4}, 2);
    const Tensor scores = similarity(q, k);
    REQUIRE(scores.shape() == Shape{2, 2, 3, 4});
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 4; ++j)
            CHECK(at(scores, b, h, i, j) ==
                  doctest::Approx(score_of(kind, q, k, similarity.weight, similarity.inner_weight,
                                           0.7, b, h, i, j))
                      .epsilon(rounding));
    std::vector<NamedParameter> inputs = similarity.parameters();
    inputs.push_back({"q", q});
    inputs.push_back({"k", k});
    check_gradients(inputs, [&] { return read_out(similarity(q, k)); });
  }
}

TEST_CASE("the scale of a scaled dot product is that of its name") {
  const Tensor q = random_tensor({1, 1, 2, 4}, 1), k = random_tensor({1, 1, 2, 4}, 2);
  const double dot = score_of(&similarities::dot, q, k, {}, {}, 1, 0, 0, 0, 0);
  const auto scaled = [&](ScoreScale scale) {
    MultiHeadAttentionOptions options;
    options.scale = scale;
    options.scale_value = 3;
    return static_cast<double>(Similarity(options, 1, 4, 4)(q, k).data()[0]) / dot;
  };
  CHECK(scaled(ScoreScale::inverse_sqrt) == doctest::Approx(0.5));
  CHECK(scaled(ScoreScale::inverse) == doctest::Approx(0.25));
  CHECK(scaled(ScoreScale::none) == doctest::Approx(1));
  CHECK(scaled(ScoreScale::value) == doctest::Approx(3));
  CHECK_THROWS_AS(Similarity({}, 1, 4, 5), Error);
}

TEST_CASE("the cosine of a zero vector is zero, not NaN") {
  MultiHeadAttentionOptions options;
  options.similarity = &similarities::cosine;
  const Tensor q = Tensor::zeros({1, 1, 1, 3}).set_requires_grad();
  const Tensor scores = Similarity(options, 1, 3, 3)(q, random_tensor({1, 1, 2, 3}, 1));
  CHECK(scores.data()[0] == 0);
  backward(read_out(scores));
  CHECK(std::isfinite(l1(q.grad())));
}

TEST_CASE("every normaliser turns masked scores into the weights of its formula") {
  const KeepMask mask = some_mask();
  for (const NormaliserRule* kind : normalisers::all)
    for (const bool exponential : {false, true}) {
      CAPTURE(std::string(kind->name));
      const Tensor scores = random_tensor({2, 2, 3, 4}, 5);
      const MultiHeadAttentionOptions options{
          .similarity = exponential ? &similarities::gaussian : &similarities::dot,
          .normaliser = kind};
      const Tensor weights = weights_of_scores(scores, mask, options);
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t i = 0; i < 3; ++i) {
            std::vector<double> s;
            std::vector<bool> kept;
            for (int64_t j = 0; j < 4; ++j) {
              s.push_back(at(scores, b, h, i, j));
              kept.push_back(mask.keeps(b, h, i, j, 3, 4));
            }
            const std::vector<double> expected = weights_of(kind, exponential, s, kept);
            for (int64_t j = 0; j < 4; ++j)
              CHECK(at(weights, b, h, i, j) ==
                    doctest::Approx(expected[static_cast<size_t>(j)]).epsilon(rounding));
          }
      check_gradients({{"scores", scores}},
                      [&] { return read_out(weights_of_scores(scores, mask, options)); });
    }
}
