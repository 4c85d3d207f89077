// What attention is: o = Σ f(q, k) g(v) / C, in all its forms.
#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/scope.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

// f(q, k) of the similarities without a parameter, for rows of width K.
double similarity_of(SimilarityKind kind, const real* q, const real* k, int64_t width) {
  double product = 0, qq = 0, kk = 0, squares = 0;
  for (int64_t c = 0; c < width; ++c) {
    product += static_cast<double>(q[c]) * k[c];
    qq += static_cast<double>(q[c]) * q[c];
    kk += static_cast<double>(k[c]) * k[c];
    squares += std::pow(static_cast<double>(q[c]) - k[c], 2);
  }
  switch (kind) {
    case SimilarityKind::embedded_gaussian:
      return std::exp(product);
    case SimilarityKind::gaussian:
      return std::exp(-squares / 2);
    case SimilarityKind::cosine:
      return product / std::sqrt(qq * kk);
    case SimilarityKind::scaled_dot:
      return product / std::sqrt(static_cast<double>(width));
    default:
      return product;
  }
}

// Equation 1, in loops: q (1, n, D), k and v (1, m, D).
Tensor by_definition(SimilarityKind kind, NormaliserKind normaliser, const Tensor& q,
                     const Tensor& k, const Tensor& v) {
  const int64_t n = q.dim(1), m = k.dim(1), width = q.dim(2);
  Tensor o = Tensor::empty(q.shape());
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> f;
    double sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      f.push_back(similarity_of(kind, q.data() + i * width, k.data() + j * width, width));
      if (normaliser == NormaliserKind::softmax && !is_exponential(kind))
        f.back() = std::exp(f[static_cast<size_t>(j)]);
      sum += f.back();
    }
    const double c = normaliser == NormaliserKind::none    ? 1
                     : normaliser == NormaliserKind::count ? static_cast<double>(m)
                                                           : sum;
    for (int64_t d = 0; d < width; ++d) {
      double result = 0;
      for (int64_t j = 0; j < m; ++j) result += f[static_cast<size_t>(j)] * v.data()[j * width + d];
      o.mutable_data()[i * width + d] = static_cast<real>(result / c);
    }
  }
  return o;
}

constexpr SimilarityKind kinds[] = {SimilarityKind::dot, SimilarityKind::scaled_dot,
                                    SimilarityKind::cosine, SimilarityKind::gaussian,
                                    SimilarityKind::embedded_gaussian};

double error_of_general_form() {
  double most = 0;
  const Tensor q = normal({1, 3, 4}), k = normal({1, 5, 4}), v = normal({1, 5, 4});
  for (const SimilarityKind kind : kinds)
    for (const NormaliserKind normaliser :
         {NormaliserKind::softmax, NormaliserKind::count, NormaliserKind::none}) {
      const MultiHeadAttention attention(4, 1, basic(kind, normaliser));
      most = std::max(
          most, distance(attention(q, k, v, {}, {}), by_definition(kind, normaliser, q, k, v)));
    }
  return most;
}

double least_difference_of_similarities() {
  double least = 1;
  const Tensor q = normal({1, 3, 4}), k = normal({1, 5, 4}), v = normal({1, 5, 4});
  std::vector<Tensor> outputs;
  for (const SimilarityKind kind : {kinds[0], kinds[1], kinds[2], kinds[3]}) {
    outputs.push_back(MultiHeadAttention(4, 1, basic(kind))(q, k, v, {}, {}));
    for (size_t i = 0; i + 1 < outputs.size(); ++i)
      least = std::min(least, distance(outputs[i], outputs.back()));
  }
  return least;
}

// W_V V softmax((W_K K)ᵀ W_Q Q), a vector a column, against rows.
double error_of_columns() {
  AttentionSetup setup = plain();
  setup.context_dim = 4;
  setup.form.similarity.kind = SimilarityKind::dot;
  setup.form.combine = Combine::concat;
  setup.form.key_dim = 2;
  setup.form.value_dim = 3;
  const MultiHeadAttention attention(3, 1, setup);
  const Tensor wq = normal({2, 3}), wk = normal({2, 4}), wv = normal({3, 4});
  set(attention, "query.weight", wq);
  set(attention, "key.weight", wk);
  set(attention, "value.weight", wv);
  const Tensor q = normal({3, 3}), c = normal({4, 5});
  const Tensor columns =
      matmul(matmul(wv, c), softmax(matmul(transpose(matmul(wk, c), 0, 1), matmul(wq, q)), 0));
  const Tensor rows =
      attention(transpose(q, 0, 1).reshape({1, 3, 3}), transpose(c, 0, 1).reshape({1, 5, 4}), {});
  return distance(rows.reshape({3, 3}), transpose(columns, 0, 1));
}

// The smallest ‖∂oⱼ/∂vᵢ‖₁ of a random direction, over outputs and inputs.
double least_influence() {
  scope().gradients = true;
  const MultiHeadAttention attention(4, 2);
  const Tensor q = normal({1, 3, 4}), direction = normal({4});
  double least = 1;
  for (int64_t j = 0; j < 3; ++j) {
    Tensor context = normal({1, 7, 4}).set_requires_grad();
    backward(sum(slice(attention(q, context, {}), 1, j, j + 1) * direction));
    for (int64_t i = 0; i < 7; ++i) {
      double size = 0;
      for (int64_t c = 0; c < 4; ++c)
        size += std::abs(static_cast<double>(context.grad().data()[i * 4 + c]));
      least = std::min(least, size);
    }
  }
  return least;
}

void general_form(Measurements& m) {
  m.at_most("A1", rounding, "S0 eq. 1",
            "o = Σ f(q, k) v / C for five f and three C, as the formula", error_of_general_form);
  m.at_least("A1", different, "S0 eq. 1", "another f gives another o",
             least_difference_of_similarities);
  m.at_most("A2", rounding, "S0, S1", "g(v) = W v with W = I is g(v) = v", [] {
    AttentionSetup setup = basic();
    const MultiHeadAttention identity(4, 1, setup);
    setup.form.project_value = true;
    setup.linear.bias = false;
    const MultiHeadAttention linear(4, 1, setup);
    set(linear, "value.weight", tensor({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
    const Tensor x = normal({1, 6, 4});
    return distance(linear(x, {}), identity(x, {}));
  });
  m.at_most("A3", rounding, "S0", "f = exp(θ(q)·φ(k)) over its sum is the softmax of θ(q)·φ(k)",
            [] {
              const Tensor scores = normal({2, 2, 5, 6});
              const Tensor f = attention_weights(scores, {}, {NormaliserKind::none, false, true});
              return distance(f / sum(f, {-1}, true), attention_weights(scores, {}));
            });
  m.at_most("A4", rounding, "S0 eq. 2",
            "columns, W_V V softmax((W_K K)ᵀ W_Q Q), are rows transposed", error_of_columns);
  m.at_most("A5", 0, "S0", "there are as many outputs as queries, for 1, 3 and 64 (misfits)", [] {
    const MultiHeadAttention attention(4, 2);
    double misfits = 0;
    for (const int64_t n : {1, 3, 64})
      misfits += misfit(attention(normal({1, n, 4}), normal({1, 7, 4}), {}), {1, n, 4});
    return misfits;
  });
  m.at_least("A5", 1e-6, "S0", "every output has a gradient by every input (the smallest)",
             least_influence);
}

void basic_attention(Measurements& m) {
  m.at_most("A6", 0, "S1, S3, S4", "basic attention has no parameter (their number)", [] {
    return static_cast<double>(MultiHeadAttention(4, 1, basic()).parameter_count());
  });
  m.at_most("A6", rounding, "S1, S3, S4", "basic attention is yᵢ = Σ softmax(xᵢ·xⱼ) xⱼ", [] {
    const Tensor x = normal({1, 4, 2});
    return distance(MultiHeadAttention(2, 1, basic())(x, {}),
                    by_definition(SimilarityKind::dot, NormaliserKind::softmax, x, x, x));
  });
  m.at_most("A6", rounding, "S1", "t = 4, d = 2: it follows the permutation [0, 1, 3, 2]", [] {
    const MultiHeadAttention attention(2, 1, basic());
    const Tensor x = normal({1, 4, 2});
    const Ids order = Ids::from({4}, {0, 1, 3, 2});
    return distance(attention(permuted(x, order), {}), permuted(attention(x, {}), order));
  });
  m.at_most("A7", rounding, "S1, S4", "without a softmax: weights are products, y = (x xᵀ) x", [] {
    const Tensor x = normal({1, 5, 4});
    const MultiHeadAttention raw(4, 1, basic(SimilarityKind::dot, NormaliserKind::none));
    return distance(raw(x, {}), matmul(matmul(x, transpose(x, 1, 2)), x));
  });
  m.at_least("A7", different, "S1, S4", "… which is not attention with a softmax", [] {
    const Tensor x = normal({1, 5, 4});
    const MultiHeadAttention raw(4, 1, basic(SimilarityKind::dot, NormaliserKind::none));
    return distance(raw(x, {}), MultiHeadAttention(4, 1, basic())(x, {}));
  });
  m.at_most("A8", 0, "S0 to S4", "self-attention is attention(x, x, x)", [] {
    const MultiHeadAttention attention(6, 2);
    const Tensor x = normal({1, 5, 6});
    return distance(attention(x, SequenceContext{}), attention(x, x, x, {}, {}));
  });
  m.at_most("A8", rounding, "S3", "keys and values tied are two equal projections", [] {
    AttentionSetup setup;
    const MultiHeadAttention apart(6, 2, setup);
    setup.form.tie_key_value = true;
    const MultiHeadAttention tied(6, 2, setup);
    copy_parameters(tied, apart);
    for (const NamedParameter& p : tied.parameters())
      if (p.name.starts_with("key.")) set(apart, "value" + p.name.substr(3), p.tensor);
    const Tensor x = normal({1, 5, 6});
    return distance(tied(x, {}), apart(x, {}));
  });
  m.at_most("A9", 0, "S0 eq. 4",
            "two learned queries give two outputs, of 1, 5 or 50 inputs (misfits)", [] {
              const LearnedQueries queries(2, 6, 2);
              double misfits = 0;
              for (const int64_t n : {1, 5, 50})
                misfits += misfit(queries(normal({1, n, 6}), {}), {1, 2, 6});
              return misfits;
            });
}

// The greatest step of an output beyond the range of the values it is a mean of.
double overshoot() {
  const MultiHeadAttention attention(4, 1, basic());
  const Tensor v = normal({1, 7, 4});
  const Tensor y = attention(normal({1, 50, 4}), normal({1, 7, 4}), v, {}, {});
  const Tensor most = max(v, {1}, true), least = neg(max(neg(v), {1}, true));
  return static_cast<double>(max(relu(y - most) + relu(least - y)).item());
}

}  // namespace

void measure_attention(Measurements& m) {
  m.section("What attention is");
  general_form(m);
  basic_attention(m);
  m.at_most("A23", 1e-6, "S3", "a weighted mean: no output beyond the values", overshoot);
  m.at_most("A23", 0, "S3", "a query, rank 1, takes keys and values, rank 2, to rank 1 (misfits)",
            [] {
              const Tensor k = normal({1, 7, 4});
              const Tensor y = MultiHeadAttention(4, 1, basic())(normal({1, 1, 4}), k, {});
              return misfit(y, {1, 1, 4});
            });
}

}  // namespace heed::theorems
