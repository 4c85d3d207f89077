#include "nn/forms/graph_attention.h"

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/joined.h"
#include "core/ops.h"
#include "core/scope.h"
#include "nn/classifier.h"
#include "nn/forms/attention.h"
#include "nn/forms/graph.h"
#include "nn/tap.h"

namespace heed::inline HEED_REAL {
namespace {

void check_heads(int64_t dim, int64_t heads) {
  check_range("graph attention", "heads", heads, at_least(1));
  check_input(dim % heads == 0,
              "`heads` = {} must divide `dim` = {}: all heads of graph attention have one width",
              heads, dim);
}

// Collects names and values of fields.
class FieldTexts final : public Fields {
 public:
  static std::vector<std::pair<std::string, std::string>> of(MultiHeadAttentionOptions options) {
    FieldTexts visitor;
    options.fields(visitor);
    return visitor.all_;
  }

 private:
  struct Text {
    std::string operator()(const Field::Choice& choice) const {
      return choice.words[static_cast<size_t>(*choice.index)];
    }
    template <class Item>
    std::string operator()(const std::vector<Item>* items) const {
      return "[" + joined(*items) + "]";
    }
    template <class Value>
    std::string operator()(const Value* value) const {
      return fmt::format("{}", *value);
    }
  };
  void visit(const Field& field) override {
    all_.emplace_back(field.name, std::visit(Text(), field.value));
  }
  void enter(const char*, const char*) override {}
  void leave() override {}

  std::vector<std::pair<std::string, std::string>> all_;
};

// Throws InputError for a key of [model.attention] that is set and does nothing.
void check_keys(const ModelOptions& o) {
  if (o.kind == ModelKind::classifier && o.pool == Pool::learned) return;  // the pool honours all
  const auto own = FieldTexts::of(o.attention), defaults = FieldTexts::of({});
  for (size_t i = 0; i < own.size(); ++i)
    check_input(
        own[i] == defaults[i] || GraphAttention::honours(own[i].first),
        "`attention.{}` = {} has no effect on `mixing` = \"graph_attention\", which honours "
        "{}; leave it at {}",
        own[i].first, own[i].second, joined(GraphAttention::honoured_keys), defaults[i].second);
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

// F → D, or null for F = 0. The nodes' queries, keys and values have biases.
std::unique_ptr<Linear> projection_of(int64_t features, int64_t dim, const LinearOptions& options) {
  if (features == 0) return nullptr;
  return std::make_unique<Linear>(features, dim,
                                  LinearOptions{.bias = false, .init = options.init});
}

std::unique_ptr<Linear> linear_to(int64_t global, int64_t inputs, const LinearOptions& options) {
  return global == 0 ? nullptr : std::make_unique<Linear>(inputs, global, options.inside());
}

// of_nodes (B·T, D) and W u of their graph, u (B, G); W may be null.
Tensor with_global(const Tensor& of_nodes, const Linear* weight, const Tensor* u) {
  if (!weight) return of_nodes;
  const int64_t batch = u->dim(0), dim = of_nodes.dim(1);
  const Tensor of_graphs = (*weight)(*u).reshape({batch, 1, dim});
  return (of_nodes.reshape({batch, of_nodes.dim(0) / batch, dim}) + of_graphs)
      .reshape(of_nodes.shape());
}

}  // namespace

bool GraphAttention::honours(std::string_view key) {
  return std::find(std::begin(honoured_keys), std::end(honoured_keys), key) !=
         std::end(honoured_keys);
}

GraphAttention::GraphAttention(int64_t dim, int64_t heads, int64_t edge_features,
                               const LinearOptions& options, const MultiHeadAttentionOptions& form,
                               int64_t global)
    : form_(form),
      heads_((check_heads(dim, heads), heads)),
      edge_features_(edge_features),
      query_(this, "query", dim, dim, options.inside()),
      key_(this, "key", dim, dim, options.inside()),
      value_(this, "value", dim, dim, options.inside()),
      output_(this, "output", dim, dim, options),
      edge_key_(this, "edge_key", projection_of(edge_features, dim, options)),
      edge_value_(this, "edge_value", projection_of(edge_features, dim, options)),
      global_query_(this, "global_query", projection_of(global, dim, options)),
      global_value_(this, "global_value", projection_of(global, dim, options)),
      global_hidden_(this, "global_hidden", linear_to(global, 2 * dim + global, options)),
      global_output_(this, "global_output", linear_to(global, global, options)),
      similarity_(this, "similarity", form, heads, dim / heads, dim / heads) {}

// s(qₖ, kₖ) / T
Tensor GraphAttention::scores(const Tensor& query, const Tensor& key) const {
  const int64_t count = query.dim(0), width = query.dim(1) / heads_;
  const auto temperature = static_cast<real>(temperature_at(form_, scope().step));
  if (!form_.similarity->is_dot_product) {  // an edge as an example of one query and one key
    const Shape pair{count, heads_, 1, width};
    const Tensor s = similarity_(query.reshape(pair), key.reshape(pair)).reshape({count, heads_});
    return mul(s, 1 / temperature);
  }
  const Shape per_head{count, heads_, width};
  const Tensor products = sum(query.reshape(per_head) * key.reshape(per_head), {2});
  const bool standard = form_.similarity == scaled_dot_product && form_.scale == ScoreScale{};
  const real scale =
      standard ? 1 / std::sqrt(static_cast<real>(width)) : static_cast<real>(similarity_.scale());
  return mul(products, scale / temperature);
}

Tensor GraphAttention::updated(const Tensor& u, const Tensor& received, const Tensor& nodes,
                               const Ids& lengths) const {
  const int64_t batch = nodes.dim(0), time = nodes.dim(1);
  const Ids all = Ids::full({batch}, static_cast<int32_t>(time));
  const Tensor means = matmul(pool_weights(lengths ? lengths : all, time, Pool::mean),
                              concat({received, nodes}, 2));  // (B, 1, 2D)
  const Tensor read = concat({means.reshape({batch, means.dim(2)}), u}, 1);
  return u + (*global_output_)((*global_hidden_)(read, Activation::gelu));
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
  Tensor* const u = sequence.global;
  check(!global_query_ || (u && *u && u->shape() == Shape{x.dim(0), global_query_->weight.dim(1)}),
        "graph attention: expected a vector of width {} for each graph",
        global_query_ ? global_query_->weight.dim(1) : 0);

  const Tensor v = x.reshape({nodes, dim});
  // (E, D), as key and value
  const Tensor query = embedding(with_global(query_(v), global_query_.get(), u), edges.receiver);
  Tensor key = embedding(key_(v), edges.sender);
  Tensor value = embedding(with_global(value_(v), global_value_.get(), u), edges.sender);
  if (edge_features_ > 0) {
    key = key + (*edge_key_)(edges.features);
    value = value + (*edge_value_)(edges.features);
  }
  const Shape per_head{count, heads_, width};
  const Tensor weights = segment_softmax(scores(query, key), edges.receiver, nodes);  // (E, H)
  if (Tap::wanted(*this, Site::weights)) {
    const Tensor shown = pair_weights(weights, edges, x.dim(0), x.dim(1));
    check(Tap::shown(*this, Site::weights, shown).same_as(shown),
          "graph attention: a tap can see its weights, but not replace them: they belong to edges");
  }
  const Tensor kept = dropout(weights, form_.dropout);
  const Tensor messages = kept.reshape({count, heads_, 1}) * value.reshape(per_head);
  const Tensor received = segment_sum(messages.reshape({count, dim}), edges.receiver, nodes);
  const Tensor z = tapped(*this, Site::heads, received.reshape(x.shape()));
  Tensor y;
  if (Tap::wanted(*this, Site::head_outputs)) {
    const std::vector<int64_t> widths(static_cast<size_t>(heads_), width);
    const auto output = [&](const Tensor& alone) { return linear(alone, output_.weight); };
    if (const Tensor other = replaced_sum_of_heads(*this, z, widths, output_.bias, output))
      y = activate(form_.activation, other);
  }
  if (!y) y = output_(z, form_.activation);
  if (global_output_) *u = updated(*u, z, x + y, sequence.mask.key_lengths);
  return y;
}

const MixingRule mixings::graph_attention = {
    .name = "graph_attention",
    .needs_edges = true,
    .make = [](const ModelOptions& o, const LinearOptions& linear) -> std::unique_ptr<Mixing> {
      MultiHeadAttentionOptions form = o.attention;
      form.dropout = o.attention_dropout;
      return std::make_unique<GraphAttention>(o.dim, o.heads, o.edge_features, linear, form,
                                              o.mixing.global);
    },
    .validate =
        [](const ModelOptions& o) {
          check_heads(o.dim, o.heads);
          check_input(o.mixing.global == 0 || o.kind == ModelKind::classifier,
                      "`block.global` = {} needs `kind` = \"classifier\", whose head reads it",
                      o.mixing.global);
          validate_attention(o.attention, o.dim, o.heads);
          check_keys(o);
        }};

}  // namespace heed::inline HEED_REAL
