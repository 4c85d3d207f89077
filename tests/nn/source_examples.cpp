// Worked examples of the source documents (docs/sources.md) and of Keras, and identities between
// forms of attention. What `heed claims` measures is tested in tests/lab/claims.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "nn/forms/attention.h"
#include "support.h"

using namespace heed;
using namespace heed::testing;

namespace {

Tensor tensor(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from(shape, std::vector<real>(values.begin(), values.end()));
}

// The scores of a similarity that has no parameters.
Tensor scores_of(const SimilarityRule* kind, const Tensor& q, const Tensor& k) {
  return Similarity({.similarity = kind}, q.dim(1), q.dim(3), k.dim(3))(q, k);
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

}  // namespace

TEST_CASE("exponentials normalised by their sum are the softmax") {
  KeepMask mask;
  mask.causal = true;
  for (const SimilarityRule* kind : {&similarities::embedded_gaussian, &similarities::gaussian}) {
    const Tensor q = random_tensor({2, 3, 5, 4}, 1), k = random_tensor({2, 3, 6, 4}, 2);
    const Tensor scores = scores_of(kind, q, k);
    REQUIRE(kind->is_exponential);
    const Tensor softmax_weights = weights_of_scores(scores, mask);
    const Tensor f = weights_of_scores(
        scores, mask, {.similarity = &similarities::gaussian, .normaliser = &normalisers::none});
    check_same(f / sum(f, {-1}, true), softmax_weights);
    check_same(
        weights_of_scores(scores, mask,
                          {.similarity = &similarities::gaussian, .normaliser = &normalisers::sum}),
        softmax_weights);
  }
}

TEST_CASE("four words in NumPy: what word 1 reads, step by step") {
  // [1 0 0], [0 1 0], [1 1 0], [0 0 1], d = 3, dₖ = dᵥ = 2, scores over √2 (Pitié, handout 10).
  MultiHeadAttentionOptions setup;
  setup.linear.bias = false;
  setup.combine = Combine::concat_projection;
  setup.key_dim = setup.value_dim = 2;
  const AttentionForm attention(3, 1, setup);
  const Tensor x = tensor({4, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1});
  const char* const names[] = {"query.weight", "key.weight", "value.weight"};
  Tensor projected[3];  // q, k and v, each (4, 2)
  for (uint32_t i = 0; i < 3; ++i) {
    const Tensor w = random_tensor({2, 3}, i + 1);
    set(attention, names[i], w);
    projected[i] = linear(x, w);
  }
  set(attention, "output.weight", tensor({3, 2}, {1, 0, 0, 1, 0, 0}));
  const auto at = [&](size_t i, int64_t t, int64_t c) {
    return static_cast<double>(projected[i].data()[2 * t + c]);
  };
  double total = 0, output[2] = {0, 0};
  for (int64_t t = 0; t < 4; ++t) {
    const double score = at(0, 0, 0) * at(1, t, 0) + at(0, 0, 1) * at(1, t, 1);
    const double weight = std::exp(score / std::sqrt(2.0));
    total += weight;
    for (int64_t c = 0; c < 2; ++c) output[c] += weight * at(2, t, c);
  }
  const Tensor y = attention(x.reshape({1, 4, 3}), SequenceContext{});
  check_same(slice(y.reshape({4, 3}), 0, 0, 1),
             tensor({1, 3}, {output[0] / total, output[1] / total, 0}));
}

TEST_CASE("Keras' examples of attention and additive attention") {
  // keras/layers/attention: test_attention_basics of both layers, where vᵀ is a row of ones.
  const Tensor q = tensor({1, 1, 2, 2}, {1, 0, 0, 1}), k = tensor({1, 1, 2, 2}, {0, 1, 1, 0});
  const Tensor v = tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  check_same(matmul(weights_of_scores(scores_of(&similarities::dot, q, k), {}), v),
             tensor({1, 1, 2, 2},
                    {2.46211715726001, 3.46211715726001, 1.53788284273999, 2.53788284273999}));
  const Similarity similarity({.similarity = &similarities::additive}, 1, 2, 2);
  set(similarity, "weight", tensor({1, 1, 2}, {1, 1}));
  check_same(matmul(weights_of_scores(similarity(q, k), {}), v),
             tensor({1, 1, 2, 2},
                    {1.72748334481446, 2.72748334481446, 2.27251665518554, 3.27251665518554}));
}
