#include "nn/forms/graph_convolution.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "mixing_check.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr Aggregate aggregates[] = {Aggregate::sum, Aggregate::mean, Aggregate::symmetric};

// Two examples of three nodes. Node 2 has no edge into it, 0 has two from 1, 4 sees itself.
Edges small_graphs(int64_t features) {
  return {Ids::from({6}, {1, 1, 2, 4, 5, 3}), Ids::from({6}, {0, 0, 1, 4, 4, 5}),
          features ? random_tensor({6, features}, 7) : Tensor()};
}

SequenceContext reading(const Edges& edges) { return {{}, &edges}; }

// The formula of nn/forms/graph_convolution.h, with the adjacency matrix in place of the edges: row
// i of the result is b + Σₛ (A_is / …) W vₛ, and the edges' share is added edge by edge.
Tensor by_definition(const GraphConvolution& layer, const Tensor& x, const Edges& edges,
                     Aggregate aggregate) {
  const int64_t nodes = x.dim(0) * x.dim(1), dim = x.dim(2);
  std::vector<double> degree(static_cast<size_t>(nodes), 0);
  for (int64_t e = 0; e < edges.receiver.size(); ++e)
    ++degree[static_cast<size_t>(edges.receiver[e])];
  for (double& d : degree) d = std::max(1.0, d);
  const Tensor bias = layer.parameter("bias");
  Tensor y = Tensor::zeros({nodes, dim});
  for (int64_t n = 0; n < y.size(); ++n) y.mutable_data()[n] = bias.data()[n % dim];
  const Tensor sent = linear(x.reshape({nodes, dim}), layer.parameter("node.weight"));
  for (int64_t e = 0; e < edges.receiver.size(); ++e) {
    const auto i = static_cast<size_t>(edges.receiver[e]), s = static_cast<size_t>(edges.sender[e]);
    const double c = aggregate == Aggregate::sum    ? 1
                     : aggregate == Aggregate::mean ? 1 / degree[i]
                                                    : 1 / std::sqrt(degree[i] * degree[s]);
    for (int64_t d = 0; d < dim; ++d) {
      double message = sent.data()[edges.sender[e] * dim + d];
      for (int64_t f = 0; edges.features && f < edges.features.dim(1); ++f)
        message += static_cast<double>(layer.parameter("edge.weight").data()[d * 2 + f]) *
                   edges.features.data()[e * 2 + f];
      y.mutable_data()[edges.receiver[e] * dim + d] += static_cast<real>(c * message);
    }
  }
  return y.reshape(x.shape());
}

}  // namespace

TEST_CASE("a graph convolution matches its definition, and its gradients central differences") {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  for (const Aggregate aggregate : aggregates)
    for (const int64_t features : {0, 2}) {
      const GraphConvolution layer(4, aggregate, features);
      shake(layer);
      CHECK(layer.parameter_count() == 16 + 4 + 4 * features);
      const Edges edges = small_graphs(features);
      CHECK(relative_difference(layer(x, reading(edges)),
                                by_definition(layer, x, edges, aggregate)) <= rounding);
      check_mixing(layer, x, reading(edges));
    }
}

TEST_CASE("on a complete graph a mean over the neighbours is the mean of all nodes") {
  const GraphConvolution layer(4, Aggregate::mean);
  shake(layer);
  Edges complete{Ids::empty({9}), Ids::empty({9}), {}};
  for (int32_t e = 0; e < 9; ++e) {
    complete.receiver.mutable_data()[e] = e / 3;
    complete.sender.mutable_data()[e] = e % 3;
  }
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Tensor expected =
      linear(mean(x, {1}, true), layer.parameter("node.weight"), layer.parameter("bias"));
  CHECK(relative_difference(layer(x, reading(complete)), Tensor::zeros(x.shape()) + expected) <=
        rounding);
}

TEST_CASE("a graph convolution is equivariant under permutations of nodes") {
  const Ids from = Ids::from({6}, {2, 0, 1, 5, 3, 4});  // new node n is old node from[n]
  int32_t renamed[6];
  for (int32_t n = 0; n < 6; ++n) renamed[from[n]] = n;
  const Edges edges = small_graphs(0);
  Edges moved{Ids::empty({6}), Ids::empty({6}), {}};
  for (int64_t e = 0; e < 6; ++e) {
    moved.sender.mutable_data()[e] = renamed[edges.sender[e]];
    moved.receiver.mutable_data()[e] = renamed[edges.receiver[e]];
  }
  const Tensor x = random_tensor({2, 3, 4}, 1);
  for (const Aggregate aggregate : aggregates) {
    const GraphConvolution layer(4, aggregate);
    shake(layer);
    const Tensor y = layer(x, reading(edges));
    CHECK(relative_difference(layer(reordered(x, from), reading(moved)), reordered(y, from)) <=
          rounding);
    CHECK(relative_difference(layer(reordered(x, from), reading(edges)), reordered(y, from)) >=
          1e-2);
  }
}

TEST_CASE("a graph convolution rejects unsupported inputs") {
  const GraphConvolution layer(4), featured(4, Aggregate::sum, 2);
  const Edges edges = small_graphs(0);
  check_rejects(layer, {2, 3, 4}, {}, "must be a graph");
  check_rejects(layer, {2, 3, 5}, reading(edges), "[2, 3, 5]");
  check_rejects(featured, {2, 3, 4}, reading(edges), "features of shape [6, 2]");
  check_rejects(layer, {1, 3, 4}, reading(edges), "one of 1 examples");
  SequenceContext causal = reading(edges);
  causal.mask.causal = true;
  check_rejects(layer, {2, 3, 4}, causal, "causal");
}
