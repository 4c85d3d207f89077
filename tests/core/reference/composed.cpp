// The operations of core/ops/fused.h, fused and as core/reference composes them: the same values
// and gradients. The preset `reference` holds the compositions against the op tables.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/values.h"

namespace heed::inline HEED_REAL::composed {

Tensor activate(Activation function, const Tensor& x);
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation);
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction, const LabelSmoothing& smoothing, int64_t at_once);
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                 const AttentionOptions& options);

}  // namespace heed::inline HEED_REAL::composed

namespace heed::inline HEED_REAL {
namespace {

using Operands = std::vector<Tensor>;

void check_close(const Tensor& a, const Tensor& b) {
  CHECK(difference(a, b) <= 200 * double{std::numeric_limits<real>::epsilon()});
}

// Both in training, with the same random stream.
void check_composed(const std::vector<Shape>& shapes,
                    const std::function<Tensor(const Operands&)>& fused,
                    const std::function<Tensor(const Operands&)>& composed) {
  Operands inputs[2];
  Tensor results[2];
  for (const int which : {0, 1}) {
    ScopeGuard here;
    here->training = true;
    here->calls = 0;
    for (uint32_t i = 0; i < shapes.size(); ++i)
      inputs[which].push_back(drawn(shapes[i], i).set_requires_grad());
    results[which] = which ? composed(inputs[1]) : fused(inputs[0]);
    backward(results[which], drawn(results[which].shape(), 100));
  }
  check_close(results[0], results[1]);
  for (size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    check_close(inputs[0][i].grad(), inputs[1][i].grad());
  }
}

TEST_CASE("composed: activations, also of a linear layer") {
  for (const Named<Activation>& entry : activation_names) {
    CAPTURE(entry.name);
    const Activation f = entry.value;
    check_composed(
        {{13, 7}, {9, 7}, {9}}, [=](const Operands& t) { return linear(t[0], t[1], t[2], f); },
        [=](const Operands& t) { return composed::linear(t[0], t[1], t[2], f); });
    check_composed(
        {{2, 13, 7}, {9, 7}}, [=](const Operands& t) { return linear(t[0], t[1], {}, f); },
        [=](const Operands& t) { return composed::linear(t[0], t[1], {}, f); });
    if (f == Activation::none) continue;
    check_composed(
        {{50, 40}}, [=](const Operands& t) { return activate(f, t[0]); },
        [=](const Operands& t) { return composed::activate(f, t[0]); });
  }
}

TEST_CASE("composed: the loss of a linear layer") {
  const Ids targets = Ids::from({2, 3}, {0, 4, ignored, 1, 2, 4});
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const LabelSmoothing& smoothing :
         {LabelSmoothing(), LabelSmoothing(0.1), LabelSmoothing(0.1, Smoothing::others)})
      check_composed(
          {{2, 3, 7}, {5, 7}, {5}},
          [&](const Operands& t) {
            return linear_cross_entropy(t[0], t[1], t[2], targets, reduction, smoothing, 10);
          },
          [&](const Operands& t) {
            return composed::linear_cross_entropy(t[0], t[1], t[2], targets, reduction, smoothing,
                                                  10);
          });
}

TEST_CASE("composed: attention with every mask, with dropout and a scale") {
  AttentionOptions causal, window, lengths, dense, dropped, scaled, equal;
  causal.mask.causal = window.mask.causal = true;
  window.mask.window = 3;
  lengths.mask.key_lengths = Ids::from({2}, {5, 0});
  dense.mask.dense = Ids::full({1, 2, 6, 8}, 1);
  for (int64_t i = 0; i < 96; i += 5) dense.mask.dense.mutable_data()[i] = 0;
  dropped.dropout = 0.3;
  scaled.scale = 0.7;
  equal.scale = 0;  // all weights are equal
  for (const AttentionOptions& options :
       {AttentionOptions(), causal, window, lengths, dense, dropped, scaled, equal})
    check_composed(
        {{2, 6, 10}, {2, 8, 10}, {2, 8, 4}},
        [&](const Operands& t) {
          return scaled_dot_product_attention(t[0], t[1], t[2], 2, options);
        },
        [&](const Operands& t) { return composed::attention(t[0], t[1], t[2], 2, options); });
  const Tensor q = drawn({2, 3, 10}, 1), k = drawn({2, 8, 10}, 2), v = drawn({2, 8, 4}, 3);
  causal.keys = 5;  // of a cache with free space
  check_close(scaled_dot_product_attention(q, k, v, 2, causal),
              composed::attention(q, k, v, 2, causal));
}

}  // namespace
}  // namespace heed::inline HEED_REAL
