// Why scores are divided by √K, and other uses of attention.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/autograd.h"
#include "core/scope.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"

namespace heed::claims {
namespace {

// max |var(s(q, k)) / expected - 1| over widths 1, 8, 64 and 512.
double max_error_of_variance(const SimilarityRule* kind) {
  return max_over(std::array{1, 8, 64, 512}, [&](int width) {
    const int64_t pairs = width == 1 ? 60'000 : width < 512 ? 20'000 : 4'000;
    const double expected = kind == &similarities::dot ? width : 1;
    return std::abs(mean_square(random_scores(kind, pairs, width)) / expected - 1);
  });
}

// The median over 64 rows of ‖∂(softmax(scores) · direction) / ∂scores‖, for rows of 16 keys of
// width 512.
double median_gradient(const SimilarityRule* kind) {
  scope().gradients = true;
  const Tensor scores =
      random_scores(kind, 64 * 16, 512).reshape({64, 16}).detach().set_requires_grad();
  backward(sum(softmax(scores) * normal(64, 16)));
  std::vector<double> norms;
  for (int64_t row = 0; row < 64; ++row) {
    const real* g = scores.grad().data() + row * 16;
    norms.push_back(std::sqrt(std::inner_product(g, g + 16, g, 0.0)));
  }
  std::nth_element(norms.begin(), norms.begin() + 32, norms.end());
  return norms[32];
}

GeneralAttention with_scale(ScoreScale scale) {
  AttentionSetup setup = basic(&similarities::scaled_dot);
  setup.form.similarity.scale = scale;
  setup.form.similarity.scale_value = 0.3;
  return {16, 1, setup};
}

double error_of_scales() {
  const Tensor x = normal(1, 5, 16);
  const std::pair<ScoreScale, double> scales[] = {{ScoreScale::none, 1},
                                                  {ScoreScale::inverse_sqrt, 0.25},
                                                  {ScoreScale::inverse, 0.0625},
                                                  {ScoreScale::value, 0.3}};
  return max_over(scales, [&](const auto& scale) {
    return distance(with_scale(scale.first)(x, {}), attention_of(x, x, x, scale.second));
  });
}

// Queries and keys are features, values are labels: Σ f(x, xⱼ) yⱼ / Σ f(x, xⱼ).
GeneralAttention kernel_regression() {
  AttentionSetup setup = basic(&similarities::gaussian, &normalisers::sum);
  setup.form.similarity.sigma = 0.8;
  return {3, 1, setup};
}

double error_of_kernel_regression() {
  const Tensor at = normal(1, 4, 3), points = normal(1, 10, 3), labels = normal(1, 10, 3);
  std::vector<double> expected;
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
    for (const double sum : total) expected.push_back(sum / weights);
  }
  return max_difference(kernel_regression()(at, points, labels, {}, {}), expected);
}

// How much the prediction at a point changes when the label of that point increases by 1.
double leak() {
  const GeneralAttention attention = kernel_regression();
  const Tensor points = normal(1, 10, 3), labels = normal(1, 10, 3);
  Tensor changed = labels.clone();
  changed.mutable_data()[0] += 1;
  const Tensor before = attention(points, points, labels, {}, {});
  return static_cast<double>(attention(points, points, changed, {}, {}).data()[0]) -
         before.data()[0];
}

// Queries from audio, keys from text, values from video, of different lengths and widths.
double wrong_shape_of_streams() {
  const GeneralAttention attention(8, 2, {.context_dim = 5, .value_source_dim = 3});
  return wrong_shape(attention(normal(1, 40, 8), normal(1, 7, 5), normal(1, 7, 3), {}, {}), 1, 40,
                     8);
}

double error_of_activation() {
  const GeneralAttention linear(6, 2), activated(6, 2, {.form = {.activation = Activation::tanh}});
  copy_parameters(linear, activated);
  const Tensor x = normal(1, 5, 6);
  return distance(activated(x, {}), tanh(linear(x, {})));
}

}  // namespace

const std::vector<Claim> topics::scale = {
    {"A33", at_most(0.15), "S2, S3", "var(q·k) = d for d = 1, 8, 64, 512 (relative error)",
     [] { return max_error_of_variance(&similarities::dot); }},
    {"A33", at_most(0.15), "S2, S3", "var(q·k / √d) = 1 for the same d (relative error)",
     [] { return max_error_of_variance(&similarities::scaled_dot); }},
    {"A33", at_least(10), "S1, S3",
     "d = 512: median gradient of a softmax with the scale, divided by that without",
     [] {
       const double scaled = median_gradient(&similarities::scaled_dot);
       return scaled / median_gradient(&similarities::dot);
     }},
    {"A34", equal, "S4", "the scale is a choice: 1, 1/√d, 1/d or 0.3", error_of_scales},
    {"A34", differs, "S4", "… and it changes the output",
     [] {
       const Tensor x = normal(1, 5, 16);
       return distance(with_scale(ScoreScale::none)(x, {}),
                       with_scale(ScoreScale::inverse_sqrt)(x, {}));
     }},
    {"A35", by_construction, "S2, S4",
     "queries, keys and values from streams of different lengths and widths (wrong shapes)",
     wrong_shape_of_streams},
    {"A35", differs, "S4", "… the output depends on the other stream",
     [] {
       const MultiHeadAttention attention(8, 2);
       const Tensor x = normal(1, 40, 8), text = normal(1, 7, 8), other = normal(1, 7, 8);
       return distance(attention.across(x, text, {}), attention.across(x, other, {}));
     }},
    {"A36", equal, "S2", "attention with an activation φ = tanh is φ(attention)",
     error_of_activation},
    {"A37", equal, "S2",
     "features as queries and keys, labels as values: Nadaraya–Watson regression",
     error_of_kernel_regression},
    {"A37", differs, "S2", "… which leaks: change of a prediction with the label of its own point",
     leak},
    {"A38", by_construction, "S3, S4",
     "attention has the parameters of its four projections and no others (difference)",
     [] {
       return difference(MultiHeadAttention(12, 3).parameter_count(),
                         4 * Linear(12, 12).parameter_count());
     }},
};

}  // namespace heed::claims
