#include "theorems/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/scope.h"

namespace heed::theorems {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor tensor(const Shape& shape, const std::vector<double>& numbers) {
  const std::vector<real> values(numbers.begin(), numbers.end());
  return Tensor::from(shape, values);
}

Tensor normal(const Shape& shape) {
  Random random(scope().next_stream(Purpose::test));
  Tensor x = Tensor::empty(shape);
  real* to = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i) to[i] = static_cast<real>(random.normal());
  return x;
}

Ids random_permutation(int64_t n) {
  Random random(scope().next_stream(Purpose::test));
  Ids order = Ids::empty({n});
  std::iota(order.data(), order.data() + n, 0);
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(order.data()[i], order.data()[random.below(static_cast<uint64_t>(i + 1))]);
  return order;
}

Ids circular_shift(int64_t n) {
  Ids order = Ids::empty({n});
  for (int64_t t = 0; t < n; ++t) order.data()[t] = static_cast<int32_t>((t + n - 1) % n);
  return order;
}

Tensor permutation_matrix(const Ids& order) {
  const int64_t n = order.size();
  Tensor p = Tensor::zeros({n, n});
  for (int64_t t = 0; t < n; ++t) p.mutable_data()[order[t] * n + t] = 1;
  return p;
}

Tensor permuted(const Tensor& x, const Ids& order) {
  return embedding(x.reshape({x.dim(1), x.dim(2)}), order).reshape(x.shape());
}

OverPermutations over_permutations(int64_t n, const std::function<double(const Ids&)>& f) {
  constexpr int count = 1000;
  OverPermutations result;
  for (int i = 0; i < count; ++i) {
    const double value = f(random_permutation(n));
    result.most = std::isnan(value) ? value : std::max(result.most, value);
    result.mean += value / count;
  }
  return result;
}

double distance(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return infinity;
  double difference = 0, size = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
    size += std::pow(static_cast<double>(b.data()[i]), 2);
  }
  if (difference == 0) return 0;
  return std::isfinite(difference) ? std::sqrt(difference / size) : infinity;
}

double greatest_difference(const Tensor& got, const std::vector<double>& wanted) {
  if (got.size() != static_cast<int64_t>(wanted.size())) return infinity;
  double most = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got.values()[i]) - wanted[i]);
    most = std::isnan(difference) ? infinity : std::max(most, difference);
  }
  return most;
}

double misfit(const Tensor& x, const Shape& wanted) { return x.shape() == wanted ? 0 : 1; }

void set(const Module& module, const std::string& name, const Tensor& value) {
  for (const NamedParameter& p : module.parameters()) {
    if (p.name != name) continue;
    check(p.tensor.shape() == value.shape(), "theorems: {} has shape {}, not {}", name,
          p.tensor.shape(), value.shape());
    std::copy_n(value.data(), value.size(), Tensor(p.tensor).mutable_data());
    return;
  }
  throw Error("theorems: there is no parameter " + name);
}

void copy_parameters(const Module& from, const Module& to) {
  for (const NamedParameter& p : from.parameters()) set(to, p.name, p.tensor);
}

AttentionSetup basic(SimilarityKind similarity, NormaliserKind normaliser) {
  AttentionSetup setup;
  setup.form.project_query = setup.form.project_key = setup.form.project_value = false;
  setup.form.combine = Combine::concat;
  setup.form.similarity.kind = similarity;
  setup.form.normaliser = normaliser;
  return setup;
}

AttentionSetup plain() {
  AttentionSetup setup;
  setup.linear.bias = false;
  return setup;
}

Tensor attention_of(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return matmul(softmax(mul(matmul(q, transpose(k, -1, -2)), static_cast<real>(scale))), v);
}

double error_of_shift(Padding padding, int64_t first, int64_t last) {
  const Convolution convolution(6, 3, padding, false);
  const Tensor x = normal({1, 8, 6});
  const Ids shift = circular_shift(8);
  return distance(slice(convolution(permuted(x, shift), {}), 1, first, last),
                  slice(permuted(convolution(x, {}), shift), 1, first, last));
}

double refused(const std::function<void()>& f) {
  try {
    f();
    return 0;
  } catch (const Error&) {
    return 1;
  }
}

Tensor random_scores(SimilarityKind kind, int64_t pairs, int64_t width) {
  SimilarityOptions options;
  options.kind = kind;
  const Similarity similarity(options, 1, width, width);
  return similarity(normal({pairs, 1, 1, width}), normal({pairs, 1, 1, width}));
}

double mean_square(const Tensor& x) { return static_cast<double>(mean(x * x).item()); }

double greatest_error_of_sums(const Tensor& weights) {
  const Tensor sums = sum(weights, {-1});
  return greatest_difference(sums, std::vector<double>(static_cast<size_t>(sums.size()), 1));
}

}  // namespace heed::theorems
