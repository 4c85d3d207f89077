// What attention is: o = Σ f(q, k) g(v) / C, in all its forms.
#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"

namespace heed::claims {
namespace {

// f(q, k) of the similarities without parameters, for rows of K elements.
double similarity_of(const SimilarityRule* kind, const real* q, const real* k, int64_t width) {
  double product = 0, qq = 0, kk = 0, squares = 0;
  for (int64_t c = 0; c < width; ++c) {
    product += static_cast<double>(q[c]) * k[c];
    qq += static_cast<double>(q[c]) * q[c];
    kk += static_cast<double>(k[c]) * k[c];
    squares += std::pow(static_cast<double>(q[c]) - k[c], 2);
  }
  if (kind == &similarities::embedded_gaussian) return std::exp(product);
  if (kind == &similarities::gaussian) return std::exp(-squares / 2);
  if (kind == &similarities::cosine) return product / std::sqrt(qq * kk);
  if (kind == &similarities::scaled_dot) return product / std::sqrt(static_cast<double>(width));
  return product;
}

// Equation 1 of S0 in loops: q (1, n, D), k and v (1, m, D).
Tensor by_definition(const SimilarityRule* kind, const NormaliserRule* normaliser, const Tensor& q,
                     const Tensor& k, const Tensor& v) {
  const int64_t n = q.dim(1), m = k.dim(1), width = q.dim(2);
  Tensor o = Tensor::empty(q.shape());
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> f;
    double sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      f.push_back(similarity_of(kind, q.data() + i * width, k.data() + j * width, width));
      if (normaliser == &normalisers::softmax && !kind->is_exponential)
        f.back() = std::exp(f.back());
      sum += f.back();
    }
    const double c = normaliser == &normalisers::none    ? 1
                     : normaliser == &normalisers::count ? static_cast<double>(m)
                                                         : sum;
    for (int64_t d = 0; d < width; ++d) {
      double result = 0;
      for (int64_t j = 0; j < m; ++j) result += f[static_cast<size_t>(j)] * v.data()[j * width + d];
      o.mutable_data()[i * width + d] = static_cast<real>(result / c);
    }
  }
  return o;
}

double error_of_general_form() {
  const Tensor q = normal(1, 3, 4), k = normal(1, 5, 4), v = normal(1, 5, 4);
  const auto normalisers = {&normalisers::softmax, &normalisers::count, &normalisers::none};
  const auto similarities = {&similarities::dot, &similarities::scaled_dot, &similarities::cosine,
                             &similarities::gaussian, &similarities::embedded_gaussian};
  return max_over(similarities, [&](const SimilarityRule* kind) {
    return max_over(normalisers, [&](const NormaliserRule* normaliser) {
      const GeneralAttention attention(4, 1, basic(kind, normaliser));
      return distance(attention(q, k, v, {}, {}), by_definition(kind, normaliser, q, k, v));
    });
  });
}

double min_difference_of_similarities() {
  double min = 1;
  const Tensor q = normal(1, 3, 4), k = normal(1, 5, 4), v = normal(1, 5, 4);
  std::vector<Tensor> outputs;
  for (const SimilarityRule* kind : {&similarities::dot, &similarities::scaled_dot,
                                     &similarities::cosine, &similarities::gaussian}) {
    outputs.push_back(GeneralAttention(4, 1, basic(kind))(q, k, v, {}, {}));
    for (size_t i = 0; i + 1 < outputs.size(); ++i)
      min = std::min(min, distance(outputs[i], outputs.back()));
  }
  return min;
}

double error_of_identity_value() {
  AttentionSetup setup = basic();
  const GeneralAttention without_projection(4, 1, setup);
  setup.form.project_value = true;
  setup.linear.bias = false;
  const GeneralAttention linear(4, 1, setup);
  set_parameter(linear, "value.weight", identity(4));
  const Tensor x = normal(1, 6, 4);
  return distance(linear(x, {}), without_projection(x, {}));
}

double error_of_embedded_gaussian() {
  const Tensor scores = normal(2, 2, 5, 6);
  const Tensor f = attention_weights(scores, {}, {&normalisers::none, false, true});
  return distance(f / sum(f, {-1}, true), attention_weights(scores, {}));
}

// W_V V softmax((W_K K)ᵀ W_Q Q), where a vector is a column, against the layer's rows.
double error_of_columns() {
  AttentionSetup setup = without_bias();
  setup.context_dim = 4;
  setup.form.similarity.kind = &similarities::dot;
  setup.form.combine = Combine::concat;
  setup.form.key_dim = 2;
  setup.form.value_dim = 3;
  const GeneralAttention attention(3, 1, setup);
  const Tensor wq = normal(2, 3), wk = normal(2, 4), wv = normal(3, 4);
  set_parameter(attention, "query.weight", wq);
  set_parameter(attention, "key.weight", wk);
  set_parameter(attention, "value.weight", wv);
  const Tensor q = normal(3, 3), c = normal(4, 5);
  const Tensor columns =
      matmul(matmul(wv, c), softmax(matmul(transpose(matmul(wk, c), 0, 1), matmul(wq, q)), 0));
  const Tensor rows =
      attention(transpose(q, 0, 1).reshape({1, 3, 3}), transpose(c, 0, 1).reshape({1, 5, 4}), {});
  return distance(rows.reshape({3, 3}), transpose(columns, 0, 1));
}

// min over j, i of ‖∂(oⱼ · direction) / ∂vᵢ‖₁
double min_influence() {
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
}

GeneralAttention raw_dot_product() { return {4, 1, basic(&similarities::dot, &normalisers::none)}; }

double error_of_tied_projections() {
  AttentionSetup setup;
  const GeneralAttention separate(6, 2, setup);
  setup.form.tie_key_value = true;
  const GeneralAttention tied(6, 2, setup);
  copy_parameters(tied, separate);
  for (const NamedParameter& p : tied.parameters())
    if (p.name.starts_with("key.")) set_parameter(separate, "value" + p.name.substr(3), p.tensor);
  const Tensor x = normal(1, 5, 6);
  return distance(tied(x, {}), separate(x, {}));
}

// How far an output goes beyond the range of the values that it is a mean of.
double overshoot() {
  const GeneralAttention attention(4, 1, basic());
  const Tensor v = normal(1, 7, 4);
  const Tensor y = attention(normal(1, 50, 4), normal(1, 7, 4), v, {}, {});
  return number(max(relu(y - max(v, {1}, true)) + relu(min(v, {1}, true) - y)));
}

}  // namespace

const std::vector<Claim> topics::attention = {
    {"A1", equal, "S0 eq. 1", "o = Σ f(q, k) v / C equals its formula, for five f and three C",
     error_of_general_form},
    {"A1", differs, "S0 eq. 1", "a different f gives a different o",
     min_difference_of_similarities},
    {"A2", equal, "S0, S1", "g(v) = W v with W = I equals g(v) = v", error_of_identity_value},
    {"A3", equal, "S0", "f = exp(θ(q)·φ(k)) divided by its sum equals the softmax of θ(q)·φ(k)",
     error_of_embedded_gaussian},
    {"A4", equal, "S0 eq. 2",
     "the column form W_V V softmax((W_K K)ᵀ W_Q Q) is the transpose of the row form",
     error_of_columns},
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
     min_influence},
    {"A6", by_construction, "S1, S3, S4", "basic attention has no parameters (count)",
     [] { return static_cast<double>(GeneralAttention(4, 1, basic()).parameter_count()); }},
    {"A6", equal, "S1, S3, S4", "basic attention is yᵢ = Σ softmax(xᵢ·xⱼ) xⱼ",
     [] {
       const Tensor x = normal(1, 4, 2);
       return distance(GeneralAttention(2, 1, basic())(x, {}),
                       by_definition(&similarities::dot, &normalisers::softmax, x, x, x));
     }},
    {"A6", equal, "S1", "for t = 4, d = 2 it follows the permutation [0, 1, 3, 2]",
     [] {
       const GeneralAttention attention(2, 1, basic());
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
       return distance(raw_dot_product()(x, {}), GeneralAttention(4, 1, basic())(x, {}));
     }},
    {"A8", by_construction, "S0 to S4", "self-attention is attention(x, x, x)",
     [] {
       const GeneralAttention attention(6, 2);
       const Tensor x = normal(1, 5, 6);
       return distance(attention(x, {}), attention(x, x, x, {}, {}));
     }},
    {"A8", equal, "S3", "tied keys and values are two equal projections",
     error_of_tied_projections},
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
     "attention is a weighted mean: outputs stay within the values (distance outside)", overshoot},
    {"A23", by_construction, "S3",
     "a query of rank 1 reduces keys and values of rank 2 to rank 1 (wrong shapes)",
     [] {
       const Tensor k = normal(1, 7, 4);
       const Tensor y = GeneralAttention(4, 1, basic())(normal(1, 1, 4), k, {});
       return wrong_shape(y, 1, 1, 4);
     }},
};

}  // namespace heed::claims
