#include "nn/forms/graph_attention.h"

#include <cmath>

#include "core/ops.h"
#include "nn/forms/attention.h"
#include "nn/forms/graph.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {
namespace {

void check_heads(int64_t dim, int64_t heads) {
  check_input(dim % heads == 0,
              "`heads` = {} must divide `dim` = {}: all heads of graph attention have one width",
              heads, dim);
}

// The weights of edges (E, H) as weights of pairs of nodes (B, H, receiver, sender). Parallel edges
// are summed.
Tensor pair_weights(const Tensor& weights, const Edges& edges, int64_t batch, int64_t time) {
  const int64_t heads = weights.dim(1);
  Tensor pairs = Tensor::zeros({batch, heads, time, time});
  real* to = pairs.mutable_data();
  for (int64_t e = 0; e < edges.sender.size(); ++e) {
    const int64_t b = edges.receiver[e] / time, i = edges.receiver[e] % time;
    const int64_t j = edges.sender[e] % time;
    for (int64_t h = 0; h < heads; ++h)
      to[((b * heads + h) * time + i) * time + j] += weights.data()[e * heads + h];
  }
  return pairs;
}

// F → D, or null for F = 0. The nodes' keys and values have biases.
std::unique_ptr<Linear> edge_projection(int64_t features, int64_t dim,
                                        const LinearOptions& options) {
  if (features == 0) return nullptr;
  return std::make_unique<Linear>(features, dim,
                                  LinearOptions{.bias = false, .init = options.init});
}

}  // namespace

GraphAttention::GraphAttention(int64_t dim, int64_t heads, int64_t edge_features,
                               const LinearOptions& options)
    : heads_(heads),
      edge_features_(edge_features),
      query_(this, "query", dim, dim, options.inside()),
      key_(this, "key", dim, dim, options.inside()),
      value_(this, "value", dim, dim, options.inside()),
      output_(this, "output", dim, dim, options),
      edge_key_(this, "edge_key", edge_projection(edge_features, dim, options)),
      edge_value_(this, "edge_value", edge_projection(edge_features, dim, options)) {
  check_range("graph attention", "heads", heads, at_least(1));
  check_heads(dim, heads);
}

Tensor GraphAttention::operator()(const Tensor& x, const SequenceContext& sequence) const {
  const ModuleScope here(*this);
  const int64_t dim = query_.weight.dim(0);
  check_mixing_input("graph attention", "the edges decide which nodes attend to which", false, x,
                     dim, sequence.mask);
  check(sequence.edges && *sequence.edges,
        "graph attention: expected edges, got none; the data must be a graph");
  const Edges& edges = *sequence.edges;
  check_edges_fit(edges, "graph attention", x.dim(0), x.dim(1), edge_features_);
  const int64_t nodes = x.dim(0) * x.dim(1), count = edges.sender.size(), width = dim / heads_;

  const Tensor v = x.reshape({nodes, dim});
  const Tensor query = embedding(query_(v), edges.receiver);  // (E, D), as key and value
  Tensor key = embedding(key_(v), edges.sender), value = embedding(value_(v), edges.sender);
  if (edge_features_ > 0) {
    key = key + (*edge_key_)(edges.features);
    value = value + (*edge_value_)(edges.features);
  }
  const Shape per_head{count, heads_, width};
  const Tensor products = sum(query.reshape(per_head) * key.reshape(per_head), {2});
  const Tensor scores = mul(products, 1 / std::sqrt(static_cast<real>(width)));
  const Tensor weights = segment_softmax(scores, edges.receiver, nodes);  // (E, H)
  if (Tap::wanted(*this, Site::weights)) {
    const Tensor shown = pair_weights(weights, edges, x.dim(0), x.dim(1));
    check(Tap::shown(*this, Site::weights, shown).same_as(shown),
          "graph attention: a tap can see its weights, but not replace them: they belong to edges");
  }
  const Tensor messages = weights.reshape({count, heads_, 1}) * value.reshape(per_head);
  const Tensor received = segment_sum(messages.reshape({count, dim}), edges.receiver, nodes);
  const Tensor z = tapped(*this, Site::heads, received.reshape(x.shape()));
  if (Tap::wanted(*this, Site::head_outputs)) {
    const std::vector<int64_t> widths(static_cast<size_t>(heads_), width);
    const auto output = [&](const Tensor& alone) { return linear(alone, output_.weight); };
    if (const Tensor y = replaced_sum_of_heads(*this, z, widths, output_.bias, output)) return y;
  }
  return output_(z);
}

const MixingRule mixings::graph_attention = {
    .name = "graph_attention",
    .needs_edges = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      return std::make_unique<GraphAttention>(o.dim, o.heads, o.edge_features, linear);
    },
    .validate = [](const ModelOptions& o) { check_heads(o.dim, o.heads); }};

}  // namespace heed::inline HEED_REAL
