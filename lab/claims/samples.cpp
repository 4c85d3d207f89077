#include "lab/claims/samples.h"

#include <cmath>
#include <limits>

#include "core/scope.h"

namespace heed::claims {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The keys of the sentence.
Tensor keys() {  // (1, 1, 6, 3)
  return Tensor::from({1, 1, 6, 3}, {0, 0, 0, 2, 0, 1, 1, -1, -2, 2, 3, 1, -2, 0, 0, 0, 2, 1});
}

}  // namespace

Tensor normal(const Shape& shape) {
  Random random(scope().next_stream(Purpose::test));
  std::vector<double> elements(static_cast<size_t>(shape.size()));
  for (double& element : elements) element = random.normal();
  return Tensor::from(shape, elements);
}

Ids random_permutation(int64_t n) {
  Random random(scope().next_stream(Purpose::test));
  Ids order = ids_of({n}, [](int64_t i) { return i; });
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(order.mutable_data()[i],
              order.mutable_data()[random.below(static_cast<uint64_t>(i + 1))]);
  return order;
}

Ids circular_shift(int64_t n, int64_t line, int64_t stride) {
  return ids_of({n}, [=](int64_t t) {
    const int64_t at = t / stride % line;
    return t + ((at + line - 1) % line - at) * stride;
  });
}

Tensor permuted(const Tensor& x, const Ids& order) {
  return embedding(x.reshape({x.dim(1), x.dim(2)}), order).reshape({1, order.size(), x.dim(2)});
}

Tensor identity(int64_t n) {
  return matrix(n, n, [](int64_t i, int64_t j) { return i == j; });
}

double distance(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.size() == 0) return infinity;
  double squares = 0, size = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    squares += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
    size += std::pow(static_cast<double>(b.data()[i]), 2);
  }
  if (squares == 0) return 0;
  return std::isfinite(squares) ? std::sqrt(squares / size) : infinity;
}

double max_difference(const Tensor& actual, const std::vector<double>& expected) {
  if (actual.size() != static_cast<int64_t>(expected.size())) return infinity;
  double max = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual.values()[i]) - expected[i]);
    max = std::isnan(error) ? infinity : std::max(max, error);
  }
  return max;
}

double rejected(const Computation& f) {
  try {
    f();
    return 0;
  } catch (const Error&) {
    return 1;
  }
}

double error_of_sums(const Tensor& weights) {
  const Tensor sums = sum(weights, {-1});
  return max_difference(sums, std::vector<double>(static_cast<size_t>(sums.size()), 1));
}

void set_parameter(const Module& module, const std::string& name, const Tensor& value) {
  Tensor tensor = module.parameter(name);
  check(tensor.shape() == value.shape(), "claims: {} has shape {}, not {}", name, tensor.shape(),
        value.shape());
  std::copy_n(value.data(), value.size(), tensor.mutable_data());
}

void copy_parameters(const Module& from, const Module& to) {
  for (const NamedParameter& p : from.parameters()) set_parameter(to, p.name, p.tensor);
}

MultiHeadAttentionOptions basic(const SimilarityRule* similarity,
                                const NormaliserRule* normaliser) {
  return {.similarity = similarity,
          .normaliser = normaliser,
          .combine = Combine::concat,
          .project_query = false,
          .project_key = false,
          .project_value = false};
}

Tensor attention_of(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return matmul(softmax(matmul(q, transpose(k, -1, -2)) * static_cast<real>(scale)), v);
}

Tensor random_scores(const SimilarityRule* kind, int64_t pairs, int64_t width) {
  const Similarity similarity({.similarity = kind}, 1, width, width);
  return similarity(normal(pairs, 1, 1, width), normal(pairs, 1, 1, width));
}

double flops_of(const Computation& f) {
  FlopCounter counter;
  ScopeGuard here;
  here->shapes_only = true;
  const ObserverScope observed(counter);
  f();
  return counter.flops();
}

double error_of_shift(Padding padding, int64_t first, int64_t last) {
  const Convolution convolution(6, 3, padding, false);
  const Tensor x = normal(1, 8, 6);
  const Ids shift = circular_shift(8, 8);
  return distance(slice(convolution(permuted(x, shift), {}), 1, first, last),
                  slice(permuted(convolution(x, {}), shift), 1, first, last));
}

Edges complete_graph(int64_t nodes) {
  return {ids_of({nodes * nodes}, [=](int64_t e) { return e % nodes; }),
          ids_of({nodes * nodes}, [=](int64_t e) { return e / nodes; }),
          {}};
}

Tensor sentence::scores(const SimilarityRule* kind) {
  return Similarity({.similarity = kind}, 1, 3, 3)(Tensor::from({1, 1, 1, 3}, {0, 2, 1}), keys());
}

// The context of a word is its key and its value, concatenated; the projections separate them.
Tensor sentence::outputs(const Change& change) {
  MultiHeadAttentionOptions setup = {.context_dim = 4,
                                     .linear = {.bias = false},
                                     .similarity = &similarities::dot,
                                     .key_dim = 3,
                                     .value_dim = 1,
                                     .project_query = false};
  change(setup);
  const AttentionForm attention(3, 1, setup);
  set_parameter(attention, "key.weight",
                Tensor::from({3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  set_parameter(attention, "value.weight", Tensor::from({1, 4}, {0, 0, 0, 1}));
  set_parameter(attention, "output.weight", Tensor::from({3, 1}, {1, 0, 0}));
  const Tensor x = keys().reshape({1, 6, 3});
  const Tensor values = Tensor::from({1, 6, 1}, {0, -0.2, 0.3, 0.4, 0, 0.1});
  return slice(attention(x, concat({x, values}, -1), {}), -1, 0, 1);
}

double sentence::book_output(const Change& change) {
  return number(slice(outputs(change), 1, 5, 6));
}

}  // namespace heed::claims
