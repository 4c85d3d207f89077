#include "lab/inspect/embeddings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "apps/inference/attention_map.h"
#include "core/check.h"

namespace heed {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Makes the symmetric matrix diagonal, and returns the eigenvectors as columns.
Matrix diagonalize(Matrix& a) {
  const size_t n = a.size();
  Matrix vectors(n, std::vector<double>(n));
  double whole = 0;
  for (size_t i = 0; i < n; ++i) {
    vectors[i][i] = 1;
    for (const double value : a[i]) whole += value * value;
  }
  for (int sweep = 0; sweep < 60; ++sweep) {
    double outside = 0;
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) outside += a[p][q] * a[p][q];
    if (outside <= 1e-24 * whole) break;
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (size_t k = 0; k < n; ++k) turn(a[k][p], a[k][q]);
        for (size_t k = 0; k < n; ++k) turn(a[p][k], a[q][k]);
        for (size_t k = 0; k < n; ++k) turn(vectors[k][p], vectors[k][q]);
      }
  }
  return vectors;
}

// The ids in the inputs, the most frequent first.
std::vector<int32_t> frequent_ids(const Inspected& inspected, size_t most) {
  std::map<int32_t, int64_t> counts;
  for (const Batch& batch : inspected.batches) {
    if (!batch.input) continue;
    const Ids& lengths = inspected.lengths(batch, "embedding");
    const int64_t time = batch.input.dim(-1);
    for (int64_t row = 0; row < batch.input.dim(0); ++row)
      for (int64_t t = 0; t < lengths.data()[row]; ++t)
        ++counts[batch.input.data()[row * time + t]];
  }
  std::vector<int32_t> ids;
  for (const auto& [id, count] : counts) ids.push_back(id);
  std::ranges::stable_sort(ids, [&](int32_t a, int32_t b) { return counts[a] > counts[b]; });
  ids.resize(std::min(ids.size(), most));
  return ids;
}

}  // namespace

Components principal_components(const std::vector<std::vector<double>>& vectors) {
  const size_t n = vectors.size();
  Matrix centred = vectors;
  for (size_t d = 0; d < (n ? vectors[0].size() : 0); ++d) {
    double mean = 0;
    for (const auto& each : vectors) mean += each[d] / static_cast<double>(n);
    for (auto& each : centred) each[d] -= mean;
  }
  Matrix products(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      products[i][j] =
          std::inner_product(centred[i].begin(), centred[i].end(), centred[j].begin(), 0.0);
  const Matrix directions = diagonalize(products);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto variance = [&](size_t i) { return std::max(0.0, products[i][i]); };
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return variance(i) > variance(j); });
  double all = 0;
  for (size_t i = 0; i < n; ++i) all += variance(i);
  Components components{std::vector<std::array<double, 2>>(n), {}};
  for (const size_t i : order) components.shares.push_back(all > 0 ? variance(i) / all : 0);
  for (size_t c = 0; c < std::min<size_t>(2, n); ++c)
    for (size_t i = 0; i < n; ++i)
      components.points[i][c] = directions[i][order[c]] * std::sqrt(variance(order[c]));
  return components;
}

Embeddings embeddings(const Inspected& inspected, size_t most) {
  const auto found = inspected.parameters.find("embedding.token.weight");
  const bool reads_source = inspected.options.kind == ModelKind::classifier;
  const auto& codec =
      reads_source || !inspected.corpus.target ? inspected.corpus.source : inspected.corpus.target;
  check_input(found != inspected.parameters.end() && codec,
              "this view shows embeddings of tokens, and this model reads none");
  const Tensor& weight = found->second;
  const std::vector<int32_t> ids = frequent_ids(inspected, most);
  check_input(ids.size() >= 3, "the examples have fewer than three tokens");
  Embeddings result;
  std::vector<std::vector<double>> vectors;
  for (const int32_t id : ids) {
    result.tokens.push_back(token_label(*codec, id));
    const real* const begin = weight.data() + id * weight.dim(1);
    vectors.emplace_back(begin, begin + weight.dim(1));
  }
  result.components = principal_components(vectors);
  return result;
}

}  // namespace heed
