// Why scores are divided by √K, what stands around attention, and what it can be used for.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/autograd.h"
#include "core/scope.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

// The greatest |var(s(q, k)) / wanted - 1| over widths 1, 8, 64, 512.
double greatest_error_of_variance(SimilarityKind kind) {
  double most = 0;
  for (const int64_t width : {1, 8, 64, 512}) {
    const int64_t pairs = width == 1 ? 60'000 : width < 512 ? 20'000 : 4'000;
    const double wanted = kind == SimilarityKind::dot ? static_cast<double>(width) : 1;
    most = std::max(most, std::abs(mean_square(random_scores(kind, pairs, width)) / wanted - 1));
  }
  return most;
}

// Of a random direction's gradient by the scores of a row of 16 keys of width 512, the median over
// 64 rows.
double median_gradient(SimilarityKind kind) {
  scope().gradients = true;
  const Tensor scores =
      random_scores(kind, 64 * 16, 512).reshape({64, 16}).detach().set_requires_grad();
  backward(sum(softmax(scores) * normal({64, 16})));
  std::vector<double> sizes;
  for (int64_t row = 0; row < 64; ++row) {
    const real* g = scores.grad().data() + row * 16;
    sizes.push_back(std::sqrt(std::inner_product(g, g + 16, g, 0.0)));
  }
  std::nth_element(sizes.begin(), sizes.begin() + 32, sizes.end());
  return sizes[32];
}

MultiHeadAttention with_scale(ScoreScale scale) {
  AttentionSetup setup = basic(SimilarityKind::scaled_dot);
  setup.form.similarity.scale = scale;
  setup.form.similarity.scale_value = 0.3;
  return {16, 1, setup};
}

double error_of_scales() {
  double most = 0;
  const Tensor x = normal({1, 5, 16});
  const std::pair<ScoreScale, double> scales[] = {{ScoreScale::none, 1},
                                                  {ScoreScale::inverse_sqrt, 0.25},
                                                  {ScoreScale::inverse, 0.0625},
                                                  {ScoreScale::value, 0.3}};
  for (const auto& [name, scale] : scales)
    most = std::max(most, distance(with_scale(name)(x, {}), attention_of(x, x, x, scale)));
  return most;
}

void scale(Measurements& m) {
  m.at_most("A33", 0.15, "S2, S3", "var(q·k) = d for d = 1, 8, 64, 512 (relative error)",
            [] { return greatest_error_of_variance(SimilarityKind::dot); });
  m.at_most("A33", 0.15, "S2, S3", "var(q·k / √d) = 1 for the same d",
            [] { return greatest_error_of_variance(SimilarityKind::scaled_dot); });
  m.at_least("A33", 10, "S1, S3",
             "d = 512: the median gradient of a softmax with the scale, over that without", [] {
               const double with = median_gradient(SimilarityKind::scaled_dot);
               return with / median_gradient(SimilarityKind::dot);
             });
  m.at_most("A34", rounding, "S4", "the scale is a choice: 1, 1/√d, 1/d or 0.3", error_of_scales);
  m.at_least("A34", different, "S4", "… and changes what is read", [] {
    const Tensor x = normal({1, 5, 16});
    return distance(with_scale(ScoreScale::none)(x, {}),
                    with_scale(ScoreScale::inverse_sqrt)(x, {}));
  });
}

// Features ask, labels answer: Σ f(x, xⱼ) yⱼ / Σ f(x, xⱼ).
AttentionSetup kernel_regression() {
  AttentionSetup setup = basic(SimilarityKind::gaussian, NormaliserKind::sum);
  setup.form.similarity.sigma = 0.8;
  return setup;
}

double error_of_kernel_regression() {
  const MultiHeadAttention attention(3, 1, kernel_regression());
  const Tensor at = normal({1, 4, 3}), points = normal({1, 10, 3}), labels = normal({1, 10, 3});
  std::vector<double> wanted;
  for (int64_t i = 0; i < 4; ++i) {
    double weights = 0, total[3] = {0, 0, 0};
    for (int64_t j = 0; j < 10; ++j) {
      double squares = 0;
      for (int64_t c = 0; c < 3; ++c)
        squares +=
            std::pow(static_cast<double>(at.data()[i * 3 + c]) - points.data()[j * 3 + c], 2);
      const double weight = std::exp(-squares / (2 * 0.8 * 0.8));
      weights += weight;
      for (int64_t c = 0; c < 3; ++c) total[c] += weight * labels.data()[j * 3 + c];
    }
    for (const double sum : total) wanted.push_back(sum / weights);
  }
  return greatest_difference(attention(at, points, labels, {}, {}), wanted);
}

// How much of a change of one point's label arrives in what is foretold of that very point.
double leak() {
  const MultiHeadAttention attention(3, 1, kernel_regression());
  const Tensor points = normal({1, 10, 3}), labels = normal({1, 10, 3});
  Tensor changed = labels.clone();
  changed.mutable_data()[0] += 1;
  const Tensor before = attention(points, points, labels, {}, {});
  return static_cast<double>(attention(points, points, changed, {}, {}).data()[0]) -
         before.data()[0];
}

// Sound asks, text answers: other lengths, other widths.
double misfits_of_streams() {
  AttentionSetup setup;
  setup.context_dim = 5;
  setup.value_source_dim = 3;
  const MultiHeadAttention attention(8, 2, setup);
  return misfit(attention(normal({1, 40, 8}), normal({1, 7, 5}), normal({1, 7, 3}), {}, {}),
                {1, 40, 8});
}

MultiHeadAttention with_activation(Activation function) {
  AttentionSetup setup;
  setup.form.activation = function;
  return {6, 2, setup};
}

void uses(Measurements& m) {
  m.at_most("A35", 0, "S2, S4",
            "40 frames of sound, 7 keys of text, 7 values of video, of other widths (misfits)",
            misfits_of_streams);
  m.at_least("A35", different, "S4", "… what is read follows the other stream", [] {
    const MultiHeadAttention attention(8, 2);
    const Tensor x = normal({1, 40, 8}), text = normal({1, 7, 8}), other = normal({1, 7, 8});
    return distance(attention(x, text, {}), attention(x, other, {}));
  });
  m.at_most("A36", rounding, "S2", "φ around attention is φ of what attention gives, φ = tanh", [] {
    const MultiHeadAttention bare(6, 2), around = with_activation(Activation::tanh);
    copy_parameters(bare, around);
    const Tensor x = normal({1, 5, 6});
    return distance(around(x, {}), tanh(bare(x, SequenceContext{})));
  });
  m.at_most("A37", rounding, "S2", "features ask, labels answer: Nadaraya and Watson's regression",
            error_of_kernel_regression);
  m.at_least("A37", different, "S2",
             "… and it leaks: a label's share in what is foretold of its own point", leak);
  m.at_most("A38", 0, "S3, S4", "attention has the parameters of its four projections (difference)",
            [] {
              const int64_t projections = 4 * Linear(12, 12).parameter_count();
              return std::abs(
                  static_cast<double>(MultiHeadAttention(12, 3).parameter_count() - projections));
            });
}

}  // namespace

void measure_scale(Measurements& m) {
  m.section("The scale, and what stands around attention");
  scale(m);
  uses(m);
}

}  // namespace heed::theorems
