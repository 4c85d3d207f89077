#include "nn/forms/graph_convolution.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/forms/graph.h"

namespace heed::inline HEED_REAL {
namespace {

LinearOptions without_bias(LinearOptions options) {
  options.bias = false;
  return options;
}

// cₖ of each edge, (E, 1).
Tensor edge_weights(const Edges& edges, Aggregate aggregate, int64_t nodes) {
  const int64_t count = edges.sender.size();
  Tensor weights = Tensor::full({count, 1}, 1);
  if (aggregate == Aggregate::sum || scope().shapes_only) return weights;
  std::vector<real> degree(static_cast<size_t>(nodes), 0);
  for (int64_t e = 0; e < count; ++e) ++degree[static_cast<size_t>(edges.receiver[e])];
  const auto of = [&](int32_t node) {
    return std::max<real>(1, degree[static_cast<size_t>(node)]);
  };
  for (int64_t e = 0; e < count; ++e) {
    const real receiver = of(edges.receiver[e]);
    weights.mutable_data()[e] =
        aggregate == Aggregate::mean ? 1 / receiver : 1 / std::sqrt(receiver * of(edges.sender[e]));
  }
  return weights;
}

}  // namespace

GraphConvolution::GraphConvolution(int64_t dim, Aggregate aggregate, int64_t edge_features,
                                   const LinearOptions& options)
    : aggregate_(aggregate),
      edge_features_(edge_features),
      node_(this, "node", dim, dim, without_bias(options)),
      edge_(this, "edge",
            edge_features == 0
                ? nullptr
                : std::make_unique<Linear>(edge_features, dim, without_bias(options))),
      bias_(this, "bias", options.bias ? constant_parameter({dim}, 0) : Tensor()) {}

Tensor GraphConvolution::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t dim = node_.weight.dim(0);
  check_mixing_input("graph convolution", "the edges decide which nodes are read", false, x, dim,
                     sequence.mask);
  check(sequence.edges && *sequence.edges,
        "graph convolution: expected edges, got none; the data must be a graph");
  const Edges& edges = *sequence.edges;
  check_edges_fit(edges, "graph convolution", x.dim(0), x.dim(1), edge_features_);
  const int64_t nodes = x.dim(0) * x.dim(1);

  Tensor messages = embedding(node_(x.reshape({nodes, dim})), edges.sender);  // (E, D)
  if (edge_) messages = messages + (*edge_)(edges.features);
  if (aggregate_ != Aggregate::sum) messages = messages * edge_weights(edges, aggregate_, nodes);
  const Tensor y = segment_sum(messages, edges.receiver, nodes);
  return (bias_ ? y + bias_ : y).reshape(x.shape());
}

const MixingRule mixings::graph_convolution = {
    .name = "graph_convolution",
    .needs_edges = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<GraphConvolution>(o.dim, o.mixing.aggregate, o.edge_features, linear);
    }};

}  // namespace heed::inline HEED_REAL
