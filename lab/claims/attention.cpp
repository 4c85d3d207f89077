// What attention is: o = Σ f(q, k) g(v) / C, in all its forms; why scores are divided by √K; other
// uses of attention.
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

// f(q, k) of a layer of one head, for rows of K elements.
double similarity_of(const MultiHeadAttentionOptions& s, const Module& layer, const real* q,
                     const real* k, int64_t width) {
  double product = 0, qq = 0, kk = 0, squares = 0;
  for (int64_t c = 0; c < width; ++c) {
    product += static_cast<double>(q[c]) * k[c];
    qq += static_cast<double>(q[c]) * q[c];
    kk += static_cast<double>(k[c]) * k[c];
    squares += std::pow(static_cast<double>(q[c]) - k[c], 2);
  }
  const auto weight = [&](const char* name) { return layer.parameter(name).data(); };
  if (s.similarity->weight_shape) {
    const real* const w = weight("similarity.weight");
    double sum = 0;
    for (int64_t c = 0; c < width; ++c) {
      if (s.similarity == &similarities::additive)
        sum += w[c] * std::tanh(static_cast<double>(q[c]) + k[c]);
      if (s.similarity == &similarities::concat)
        sum += static_cast<double>(w[c]) * q[c] + static_cast<double>(w[width + c]) * k[c];
      double row = 0;  // (Wᵀ q)[c], or (W [q; k])[c]
      for (int64_t d = 0; d < width && s.similarity == &similarities::general; ++d)
        row += static_cast<double>(w[d * width + c]) * q[d];
      sum += row * k[c];
      if (s.similarity != &similarities::luong_concat) continue;
      const real* const inner = weight("similarity.inner_weight") + c * 2 * width;
      for (int64_t d = 0; d < width; ++d)
        row += static_cast<double>(inner[d]) * q[d] + static_cast<double>(inner[width + d]) * k[d];
      sum += w[c] * std::tanh(row);
    }
    return sum;
  }
  if (s.similarity == &similarities::embedded_gaussian) return std::exp(product);
  if (s.similarity == &similarities::gaussian) return std::exp(-squares / (2 * s.sigma * s.sigma));
  if (s.similarity == &similarities::cosine) return product / std::sqrt(qq * kk);
  if (s.similarity == &similarities::scaled_dot)
    return product / std::sqrt(static_cast<double>(width));
  return product;
}

// Equation 1 of S0 in loops: q (1, n, D), k and v (1, m, D) → n · D numbers. With `scales`, it gets
// (C / Σ |f|)² for each of them: rounding changes a quotient by the inverse of that.
std::vector<double> by_definition(const MultiHeadAttentionOptions& form, const Module& layer,
                                  const Tensor& q, const Tensor& k, const Tensor& v,
                                  std::vector<double>* scales = nullptr) {
  const int64_t n = q.dim(1), m = k.dim(1), width = q.dim(2);
  const NormaliserRule* const normaliser = form.normaliser;
  const bool exponential = normaliser == &normalisers::softmax && !form.similarity->is_exponential;
  std::vector<double> o;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0, size = 0;
    std::vector<double> total(static_cast<size_t>(width), 0);
    for (int64_t j = 0; j < m; ++j) {
      const double s =
          similarity_of(form, layer, q.data() + i * width, k.data() + j * width, width);
      const double f = exponential ? std::exp(s) : s;
      sum += f;
      size += std::abs(f);
      for (int64_t d = 0; d < width; ++d)
        total[static_cast<size_t>(d)] += f * v.data()[j * width + d];
    }
    if (normaliser == &normalisers::none) sum = 1;
    if (normaliser == &normalisers::count) sum = static_cast<double>(m);
    for (const double element : total) o.push_back(element / sum);
    if (scales) scales->insert(scales->end(), total.size(), std::pow(sum / size, 2));
  }
  return o;
}

AttentionForm raw_dot_product() { return {4, 1, basic(&similarities::dot, &normalisers::none)}; }

// The maximum of |error(scores, width)| over widths 1, 8, 64 and 512.
template <class F>
double max_error_of_scores(const SimilarityRule* kind, const F& error) {
  return max_over(std::array{1, 8, 64, 512}, [&](int width) {
    const int64_t pairs = width == 1 ? 60'000 : width < 512 ? 20'000 : 4'000;
    return std::abs(error(random_scores(kind, pairs, width), width));
  });
}

// max |var(s(q, k)) / expected - 1|
double max_error_of_variance(const SimilarityRule* kind) {
  return max_error_of_scores(kind, [kind](const Tensor& scores, double width) {
    return mean_square(scores) / (kind == &similarities::dot ? width : 1) - 1;
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

AttentionForm with_scale(ScoreScale scale) {
  MultiHeadAttentionOptions setup = basic(&similarities::scaled_dot);
  setup.scale = scale;
  setup.scale_value = 0.3;
  return {16, 1, setup};
}

// Queries and keys are features, values are labels: Σ f(x, xⱼ) yⱼ / Σ f(x, xⱼ).
MultiHeadAttentionOptions kernel() {
  MultiHeadAttentionOptions setup = basic(&similarities::gaussian, &normalisers::sum);
  setup.sigma = 0.8;
  return setup;
}
AttentionForm kernel_regression() { return {3, 1, kernel()}; }

}  // namespace

const std::vector<Claim> topics::attention = {
    {"A1", equal, "S0 eq. 1", "o = Σ f(q, k) v / C equals its formula, for every f and three C",
     [] {
       const Tensor q = normal(1, 3, 4), k = normal(1, 5, 4), v = normal(1, 5, 4);
       const auto normalisers = {&normalisers::softmax, &normalisers::count, &normalisers::none};
       return max_over(similarities::all, [&](const SimilarityRule* kind) {
         return max_over(normalisers, [&](const NormaliserRule* normaliser) {
           const MultiHeadAttentionOptions form = basic(kind, normaliser);
           const AttentionForm attention(4, 1, form);
           const auto expected = by_definition(form, attention, q, k, v);
           return distance(attention(q, k, v, {}, {}), Tensor::from(q.shape(), expected));
         });
       });
     }},
    {"A1", equal, "S0 eq. 1",
     "… and with C = Σ f of either sign, for every f (error · (C / Σ |f|)²)",
     [] {
       const Tensor q = normal(1, 50, 4), k = normal(1, 5, 4), v = normal(1, 5, 4);
       return max_over(similarities::all, [&](const SimilarityRule* kind) {
         const MultiHeadAttentionOptions form = basic(kind, &normalisers::sum);
         const AttentionForm attention(4, 1, form);
         std::vector<double> scales;
         const auto expected = by_definition(form, attention, q, k, v, &scales);
         const Tensor scale = Tensor::from(q.shape(), scales);
         return distance(attention(q, k, v, {}, {}) * scale,
                         Tensor::from(q.shape(), expected) * scale);
       });
     }},
    {"A1", differs, "S0 eq. 1", "a different f gives a different o",
     [] {
       double min = 1;
       const Tensor q = normal(1, 3, 4), k = normal(1, 5, 4), v = normal(1, 5, 4);
       std::vector<Tensor> outputs;
       for (const SimilarityRule* kind : {&similarities::dot, &similarities::scaled_dot,
                                          &similarities::cosine, &similarities::gaussian}) {
         outputs.push_back(AttentionForm(4, 1, basic(kind))(q, k, v, {}, {}));
         for (size_t i = 0; i + 1 < outputs.size(); ++i)
           min = std::min(min, distance(outputs[i], outputs.back()));
       }
       return min;
     }},
    {"A2", equal, "S0, S1", "g(v) = W v with W = I equals g(v) = v",
     [] {
       MultiHeadAttentionOptions setup = basic();
       const AttentionForm without_projection(4, 1, setup);
       setup.project_value = true;
       setup.linear.bias = false;
       const AttentionForm linear(4, 1, setup);
       set_parameter(linear, "value.weight", identity(4));
       const Tensor x = normal(1, 6, 4);
       return distance(linear(x, {}), without_projection(x, {}));
     }},
    {"A2", equal, "S0", "… and g, θ and φ may be any maps, such as W₂ tanh(W₁ x)",
     [] {
       MultiHeadAttentionOptions setup{.linear = {.bias = false}};
       setup.projection_hidden = 3;
       const AttentionForm hidden(4, 1, setup);
       const Tensor x = normal(1, 6, 4);
       const auto map = [&](const std::string& name) {
         return linear(tanh(linear(x, hidden.parameter(name + "_hidden.weight"))),
                       hidden.parameter(name + ".weight"));
       };
       const Tensor z = attention_of(map("query"), map("key"), map("value"), 0.5);
       return distance(hidden(x, {}), linear(z, hidden.parameter("output.weight")));
     }},
    {"A3", equal, "S0", "f = exp(θ(q)·φ(k)) divided by its sum equals the softmax of θ(q)·φ(k)",
     [] {
       const Tensor scores = normal(2, 2, 5, 6);
       const Tensor f = weights_of_scores(
           scores, {}, {.similarity = &similarities::gaussian, .normaliser = &normalisers::none});
       return distance(f / sum(f, {-1}, true), weights_of_scores(scores, {}));
     }},
    {"A4", equal, "S0 eq. 2",
     "the column form W_V V softmax((W_K K)ᵀ W_Q Q) is the transpose of the row form",
     [] {
       const AttentionForm attention(3, 1,
                                     {.context_dim = 4,
                                      .linear = {.bias = false},
                                      .similarity = &similarities::dot,
                                      .key_dim = 2,
                                      .value_dim = 3,
                                      .combine = Combine::concat});
       const Tensor wq = normal(2, 3), wk = normal(2, 4), wv = normal(3, 4);
       set_parameter(attention, "query.weight", wq);
       set_parameter(attention, "key.weight", wk);
       set_parameter(attention, "value.weight", wv);
       const Tensor q = normal(3, 3), c = normal(4, 5);
       const Tensor columns =
           matmul(matmul(wv, c), softmax(matmul(transpose(matmul(wk, c), 0, 1), matmul(wq, q)), 0));
       const Tensor rows = attention(transpose(q, 0, 1).reshape({1, 3, 3}),
                                     transpose(c, 0, 1).reshape({1, 5, 4}), {});
       return distance(rows.reshape({3, 3}), transpose(columns, 0, 1));
     }},
    {"A5", by_construction, "S0",
     "there are as many outputs as queries: 1, 3 and 64 (wrong shapes)",
     [] {
       const MultiHeadAttention attention(4, 2);
       double wrong = 0;
       for (const int64_t n : {1, 3, 64})
         wrong += wrong_shape(attention.across(normal(1, n, 4), normal(1, 7, 4), {}), 1, n, 4);
       return wrong;
     }},
    {"A5", at_least(1e-6), "S0", "every output depends on every input (smallest gradient)",
     [] {
       // min over j, i of ‖∂(oⱼ · direction) / ∂vᵢ‖₁
       scope().gradients = true;
       const MultiHeadAttention attention(4, 2);
       const Tensor q = normal(1, 3, 4), direction = normal(4);
       double min = 1;
       for (int64_t j = 0; j < 3; ++j) {
         Tensor context = normal(1, 7, 4).set_requires_grad();
         backward(sum(slice(attention.across(q, context, {}), 1, j, j + 1) * direction));
         for (int64_t i = 0; i < 7; ++i) {
           double size = 0;
           for (int64_t c = 0; c < 4; ++c)
             size += std::abs(static_cast<double>(context.grad().data()[i * 4 + c]));
           min = std::min(min, size);
         }
       }
       return min;
     }},
    {"A6", by_construction, "S1, S3, S4", "basic attention has no parameters (count)",
     [] { return static_cast<double>(AttentionForm(4, 1, basic()).parameter_count()); }},
    {"A6", equal, "S1, S3, S4", "basic attention is yᵢ = Σ softmax(xᵢ·xⱼ) xⱼ",
     [] {
       const Tensor x = normal(1, 4, 2);
       const AttentionForm attention(2, 1, basic());
       const auto y = by_definition(basic(), attention, x, x, x);
       return distance(attention(x, {}), Tensor::from(x.shape(), y));
     }},
    {"A6", equal, "S1", "for t = 4, d = 2 it follows the permutation [0, 1, 3, 2]",
     [] {
       const AttentionForm attention(2, 1, basic());
       const Tensor x = normal(1, 4, 2);
       const Ids order = Ids::from({4}, {0, 1, 3, 2});
       return distance(attention(permuted(x, order), {}), permuted(attention(x, {}), order));
     }},
    {"A7", equal, "S1, S4", "without a softmax the weights are dot products: y = (x xᵀ) x",
     [] {
       const Tensor x = normal(1, 5, 4);
       return distance(raw_dot_product()(x, {}), matmul(matmul(x, transpose(x, 1, 2)), x));
     }},
    {"A7", differs, "S1, S4", "… which differs from attention with a softmax",
     [] {
       const Tensor x = normal(1, 5, 4);
       return distance(raw_dot_product()(x, {}), AttentionForm(4, 1, basic())(x, {}));
     }},
    {"A8", by_construction, "S0 to S4", "self-attention is attention(x, x, x)",
     [] {
       const AttentionForm attention(6, 2);
       const Tensor x = normal(1, 5, 6);
       return distance(attention(x, {}), attention(x, x, x, {}, {}));
     }},
    {"A8", equal, "S3", "tied keys and values are two equal projections",
     [] {
       MultiHeadAttentionOptions setup;
       const AttentionForm separate(6, 2, setup);
       setup.tie_key_value = true;
       const AttentionForm tied(6, 2, setup);
       copy_parameters(tied, separate);
       for (const NamedParameter& p : tied.parameters())
         if (p.name.starts_with("key."))
           set_parameter(separate, "value" + p.name.substr(3), p.tensor);
       const Tensor x = normal(1, 5, 6);
       return distance(tied(x, {}), separate(x, {}));
     }},
    {"A9", by_construction, "S0 eq. 4",
     "two learned queries give two outputs for 1, 5 or 50 inputs (wrong shapes)",
     [] {
       const LearnedQueries queries(2, 6, 2);
       double wrong = 0;
       for (const int64_t n : {1, 5, 50})
         wrong += wrong_shape(queries(normal(1, n, 6), {}), 1, 2, 6);
       return wrong;
     }},
    {"A23", at_most(1e-6), "S3",
     "attention is a weighted mean: outputs stay within the values (distance outside)",
     [] {
       const AttentionForm attention(4, 1, basic());
       const Tensor v = normal(1, 7, 4);
       const Tensor y = attention(normal(1, 50, 4), normal(1, 7, 4), v, {}, {});
       return number(max(relu(y - max(v, {1}, true)) + relu(min(v, {1}, true) - y)));
     }},
    {"A23", by_construction, "S3",
     "a query of rank 1 reduces keys and values of rank 2 to rank 1 (wrong shapes)",
     [] {
       const Tensor k = normal(1, 7, 4);
       const Tensor y = AttentionForm(4, 1, basic())(normal(1, 1, 4), k, {});
       return wrong_shape(y, 1, 1, 4);
     }},
};

const std::vector<Claim> topics::scale = {
    {"A33", at_most(0.15), "S2, S3", "var(q·k) = d for d = 1, 8, 64, 512 (relative error)",
     [] { return max_error_of_variance(&similarities::dot); }},
    {"A33", at_most(0.15), "S2, S3", "var(q·k / √d) = 1 for the same d (relative error)",
     [] { return max_error_of_variance(&similarities::scaled_dot); }},
    {"A33", at_most(0.1), "S2", "the mean of q·k is 0 for the same d (in standard deviations)",
     [] {
       return max_error_of_scores(&similarities::dot, [](const Tensor& scores, double width) {
         return number(mean(scores)) / std::sqrt(width);
       });
     }},
    {"A33", at_least(10), "S1, S3",
     "d = 512: median gradient of a softmax with the scale, divided by that without",
     [] {
       const double scaled = median_gradient(&similarities::scaled_dot);
       return scaled / median_gradient(&similarities::dot);
     }},
    {"A34", equal, "S4", "the scale is a choice: 1, 1/√d, 1/d or 0.3",
     [] {
       const Tensor x = normal(1, 5, 16);
       const std::pair<ScoreScale, double> scales[] = {{ScoreScale::none, 1},
                                                       {ScoreScale::inverse_sqrt, 0.25},
                                                       {ScoreScale::inverse, 0.0625},
                                                       {ScoreScale::value, 0.3}};
       return max_over(scales, [&](const auto& scale) {
         return distance(with_scale(scale.first)(x, {}), attention_of(x, x, x, scale.second));
       });
     }},
    {"A34", differs, "S4", "… and it changes the output",
     [] {
       const Tensor x = normal(1, 5, 16);
       return distance(with_scale(ScoreScale::none)(x, {}),
                       with_scale(ScoreScale::inverse_sqrt)(x, {}));
     }},
    {"A35", by_construction, "S2, S4",
     "queries, keys and values from streams of different lengths and widths (wrong shapes)",
     [] {
       const AttentionForm attention(8, 2, {.context_dim = 5, .value_source_dim = 3});
       const Tensor audio = normal(1, 40, 8), text = normal(1, 7, 5), video = normal(1, 7, 3);
       return wrong_shape(attention(audio, text, video, {}, {}), 1, 40, 8);
     }},
    {"A35", differs, "S4", "… the output depends on the other stream",
     [] {
       const MultiHeadAttention attention(8, 2);
       const Tensor x = normal(1, 40, 8), text = normal(1, 7, 8), other = normal(1, 7, 8);
       return distance(attention.across(x, text, {}), attention.across(x, other, {}));
     }},
    {"A36", equal, "S2", "attention with an activation φ = tanh is φ(attention)",
     [] {
       const AttentionForm linear(6, 2), activated(6, 2, {.activation = Activation::tanh});
       copy_parameters(linear, activated);
       const Tensor x = normal(1, 5, 6);
       return distance(activated(x, {}), tanh(linear(x, {})));
     }},
    {"A36", equal, "S2", "Z = V W(Q, K) with W of v × v' mixes features: V softmax(Qᵀ K / √m)",
     [] {
       MultiHeadAttentionOptions setup = basic(&similarities::scaled_dot);
       setup.over = Over::features;
       const Tensor x = normal(1, 9, 4);
       const Tensor w = softmax(matmul(transpose(x, 1, 2), x) * (real{1} / 3));
       return distance(AttentionForm(4, 1, setup)(x, {}), matmul(x, w));
     }},
    {"A36", differs, "S2", "… which is not what softmax(Q Kᵀ / √q) V, weights of positions, gives",
     [] {
       MultiHeadAttentionOptions setup = basic(&similarities::scaled_dot);
       const AttentionForm positions(4, 1, setup);
       setup.over = Over::features;
       const Tensor x = normal(1, 9, 4);
       return distance(AttentionForm(4, 1, setup)(x, {}), positions(x, {}));
     }},
    {"A37", equal, "S2",
     "features as queries and keys, labels as values: Nadaraya–Watson regression",
     [] {
       const Tensor at = normal(1, 4, 3), points = normal(1, 10, 3), labels = normal(1, 10, 3);
       const AttentionForm attention = kernel_regression();
       const auto expected = by_definition(kernel(), attention, at, points, labels);
       return max_difference(attention(at, points, labels, {}, {}), expected);
     }},
    {"A37", differs, "S2", "… which leaks: change of a prediction with the label of its own point",
     [] {
       const AttentionForm attention = kernel_regression();
       const Tensor points = normal(1, 10, 3), labels = normal(1, 10, 3);
       Tensor changed = labels.clone();
       changed.mutable_data()[0] += 1;
       const Tensor before = attention(points, points, labels, {}, {});
       return static_cast<double>(attention(points, points, changed, {}, {}).data()[0]) -
              before.data()[0];
     }},
    {"A38", by_construction, "S3, S4",
     "attention has the parameters of its four projections and no others (difference)",
     [] {
       return difference(MultiHeadAttention(12, 3).parameter_count(),
                         4 * Linear(12, 12).parameter_count());
     }},
};

}  // namespace heed::claims
