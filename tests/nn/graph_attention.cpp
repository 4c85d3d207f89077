#include "nn/forms/graph_attention.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/autograd.h"
#include "core/more_ops.h"
#include "core/ops.h"
#include "mixing_check.h"
#include "nn/classifier.h"
#include "nn/forms/attention.h"
#include "nn/models.h"

using namespace heed;
using namespace heed::testing;

namespace {

// From every node to every node of its example, itself too.
Edges complete_graph(int64_t batch, int64_t time) {
  Edges edges{Ids::empty({batch * time * time}), Ids::empty({batch * time * time}), {}};
  for (int64_t e = 0; e < edges.sender.size(); ++e) {
    edges.receiver.mutable_data()[e] = static_cast<int32_t>(e / time);
    edges.sender.mutable_data()[e] = static_cast<int32_t>(e / (time * time) * time + e % time);
  }
  return edges;
}

// Two examples of four nodes. Node 3 has no edge into it, 0 has two equal ones, 5 sees itself.
Edges some_edges(int64_t features) {
  return {Ids::from({8}, {1, 1, 3, 0, 2, 7, 5, 4}), Ids::from({8}, {0, 0, 0, 1, 2, 5, 5, 6}),
          features ? random_tensor({8, features}, 7) : Tensor()};
}

SequenceContext with(const Edges& edges) { return {{}, &edges}; }

// Reads vectors u of the two graphs, which are parameters, and returns v' + u'.
class ReadsGlobal : public Mixing {
 public:
  ReadsGlobal(int64_t dim, int64_t heads, int64_t edge_features)
      : layer(this, "layer", dim, heads, edge_features, LinearOptions(),
              MultiHeadAttentionOptions(), dim),
        u(this, "u", random_tensor({2, dim}, 5)) {}
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override {
    const auto [y, next] = outputs(x, sequence);
    return y + next.reshape({2, 1, u.dim(1)});
  }
  // v' and u'
  std::pair<Tensor, Tensor> outputs(const Tensor& x, const SequenceContext& sequence) const {
    Tensor next = u;
    SequenceContext own = sequence;
    own.global = &next;
    const Tensor y = layer(x, own);
    return {y, next};
  }

  Part<GraphAttention> layer;
  Part<Tensor> u;
};

}  // namespace

TEST_CASE("on a complete graph with self-loops graph attention is multi-head self-attention") {
  constexpr int64_t batch = 2, time = 5, dim = 6;
  for (const int64_t heads : {1, 2, 3}) {
    CAPTURE(heads);
    const GraphAttention graph(dim, heads, 0);
    const MultiHeadAttention attention(dim, heads);
    shake(graph);
    const auto of_graph = graph.parameters(), of_attention = attention.parameters();
    REQUIRE(of_graph.size() == of_attention.size());
    for (size_t p = 0; p < of_graph.size(); ++p) {
      REQUIRE(of_graph[p].name == of_attention[p].name);
      std::copy_n(of_graph[p].tensor.data(), of_graph[p].tensor.size(),
                  Tensor(of_attention[p].tensor).mutable_data());
    }
    const Tensor x = random_tensor({batch, time, dim}, 1), same = random_tensor(x.shape(), 1);
    const Tensor y = graph(x, with(complete_graph(batch, time)));
    const Tensor expected = attention(same, {});
    CHECK(relative_difference(y, expected) <= rounding);
    backward(read_out(y));
    backward(read_out(expected));
    CHECK(relative_difference(x.grad(), same.grad()) <= rounding);
    for (size_t p = 0; p < of_graph.size(); ++p) {
      if (of_graph[p].name == "key.bias") continue;  // no gradient in truth: softmax ignores it
      CAPTURE(of_graph[p].name);
      CHECK(relative_difference(of_graph[p].tensor.grad(), of_attention[p].tensor.grad()) <=
            rounding);
    }
  }
}

TEST_CASE("on a complete graph every similarity is that of self-attention") {
  constexpr int64_t batch = 2, time = 4, dim = 6;
  for (const SimilarityRule* similarity : similarities::all) {
    CAPTURE(std::string(similarity->name));
    const MultiHeadAttentionOptions form{.similarity = similarity,
                                         .scale = ScoreScale::inverse,
                                         .sigma = 0.8,
                                         .temperature = 0.7,
                                         .activation = Activation::tanh};
    const GraphAttention graph(dim, 2, 0, {}, form);
    const AttentionForm attention(dim, 2, form);
    shake(graph);
    const auto of_graph = graph.parameters();
    REQUIRE(of_graph.size() == attention.parameters().size());
    for (const NamedParameter& p : of_graph)
      std::copy_n(p.tensor.data(), p.tensor.size(), attention.parameter(p.name).mutable_data());
    const Tensor x = random_tensor({batch, time, dim}, 1);
    CHECK(relative_difference(graph(x, with(complete_graph(batch, time))), attention(x, {})) <=
          rounding);
    check_mixing(graph, x, with(some_edges(0)));
  }
}

TEST_CASE("the gradients of graph attention agree with central differences") {
  const Tensor x = random_tensor({2, 4, 4}, 1);
  GraphAttention plain(4, 2, 0), featured(4, 2, 3);
  shake(plain);
  shake(featured);
  CHECK(plain.parameter_count() == 4 * (16 + 4));
  CHECK(featured.parameter_count() == 4 * (16 + 4) + 2 * 4 * 3);
  check_mixing(plain, x, with(some_edges(0)));
  check_mixing(featured, x, with(some_edges(3)));
}

TEST_CASE("a node without incoming edges gets the output's bias") {
  const GraphAttention layer(4, 2, 3);
  shake(layer);
  const Tensor x = random_tensor({2, 4, 4}, 1);
  const Tensor y = layer(x, with(some_edges(3)));
  const Edges none{Ids::empty({0}), Ids::empty({0}), Tensor::empty({0, 3})};
  const Tensor unconnected = layer(x, with(none));
  const Tensor bias = layer.parameters()[7].tensor;
  REQUIRE(layer.parameters()[7].name == "output.bias");
  for (int64_t d = 0; d < 4; ++d) {
    CHECK(y.data()[3 * 4 + d] == bias.data()[d]);
    for (int64_t n = 0; n < 8; ++n) CHECK(unconnected.data()[n * 4 + d] == bias.data()[d]);
  }
  check_mixing(layer, x, with(none));
}

TEST_CASE("a node depends only on its senders") {
  const GraphAttention layer(4, 2, 0);
  shake(layer);
  Tensor x = random_tensor({2, 4, 4}, 1);
  const Tensor before = layer(x, with(some_edges(0)));
  for (int64_t d = 0; d < 4; ++d) x.mutable_data()[1 * 4 + d] += 1;  // node 1
  const Tensor after = layer(x, with(some_edges(0)));
  const auto difference = [&](int64_t node) {
    return relative_difference(slice(after.reshape({8, 4}), 0, node, node + 1),
                               slice(before.reshape({8, 4}), 0, node, node + 1));
  };
  CHECK(difference(0) >= 1e-3);  // from 1 to 0
  for (const int64_t node : {2, 3, 4, 5, 6, 7}) CHECK(difference(node) == 0);
  CHECK(difference(1) <= rounding);  // its query changes, but it has only one key
}

TEST_CASE("graph attention is equivariant under permutations of nodes and edges") {
  const GraphAttention layer(4, 2, 3);
  shake(layer);
  const Tensor x = random_tensor({2, 4, 4}, 1);
  const Ids from = Ids::from({8}, {2, 0, 3, 1, 5, 7, 4, 6});  // new node n is old node from[n]
  const Ids edge_from = Ids::from({8}, {3, 1, 7, 0, 2, 6, 5, 4});
  int32_t renamed[8];
  for (int32_t n = 0; n < 8; ++n) renamed[from[n]] = n;
  const Edges edges = some_edges(3);
  Edges moved{Ids::empty({8}), Ids::empty({8}), reordered(edges.features, edge_from)};
  for (int64_t e = 0; e < 8; ++e) {
    moved.sender.mutable_data()[e] = renamed[edges.sender[edge_from[e]]];
    moved.receiver.mutable_data()[e] = renamed[edges.receiver[edge_from[e]]];
  }
  const Tensor y = layer(x, with(edges));
  CHECK(relative_difference(layer(reordered(x, from), with(moved)), reordered(y, from)) <=
        rounding);
  CHECK(relative_difference(layer(reordered(x, from), with(edges)), reordered(y, from)) >= 1e-2);
}

TEST_CASE("a global vector joins queries and values, and the update of nodes and edges") {
  constexpr int64_t dim = 4, heads = 2, width = 2, time = 4;
  const ReadsGlobal mixing(dim, heads, 3);
  shake(mixing);
  const GraphAttention& layer = mixing.layer;
  const Tensor x = random_tensor({2, time, dim}, 1);
  const Edges edges = some_edges(3);
  SequenceContext context = with(edges);
  const Ids lengths = Ids::from({2}, {4, 3});
  context.mask.key_lengths = lengths;
  const auto [y, next] = mixing.outputs(x, context);

  // By rows: W x, of a layer's weight by name.
  const auto row = [](const Tensor& of, int64_t i) {
    return slice(of.reshape({of.size() / of.dim(-1), of.dim(-1)}), 0, i, i + 1);
  };
  const auto times = [&](const Tensor& r, const std::string& name) {
    return matmul(r, transpose(layer.parameter(name + ".weight"), 0, 1));
  };
  const auto affine = [&](const Tensor& r, const std::string& name) {
    return times(r, name) + layer.parameter(name + ".bias");
  };
  for (int64_t b = 0; b < 2; ++b) {
    const Tensor u = row(mixing.u, b);
    Tensor sum_received = Tensor::zeros({1, dim}), sum_nodes = Tensor::zeros({1, dim});
    for (int64_t i = 0; i < time; ++i) {
      const int64_t node = b * time + i;
      const Tensor query = affine(row(x, node), "query") + times(u, "global_query");
      std::vector<Tensor> scores, messages;
      for (int64_t e = 0; e < edges.sender.size(); ++e) {
        if (edges.receiver[e] != node) continue;
        const Tensor from = row(x, edges.sender[e]), edge = row(edges.features, e);
        const Tensor key = affine(from, "key") + times(edge, "edge_key");
        messages.push_back(affine(from, "value") + times(edge, "edge_value") +
                           times(u, "global_value"));
        scores.push_back(sum((query * key).reshape({heads, width}), {1}) *
                         (1 / std::sqrt(real{width})));
      }
      Tensor received = Tensor::zeros({1, dim});
      if (!messages.empty()) {
        const Tensor weights = softmax(transpose(stack(scores, 0), 0, 1));  // (H, edges)
        for (int64_t e = 0; e < std::ssize(messages); ++e)
          received = received + (slice(weights, 1, e, e + 1) *
                                 messages[static_cast<size_t>(e)].reshape({heads, width}))
                                    .reshape({1, dim});
      }
      const Tensor expected = affine(received, "output");
      CHECK(relative_difference(row(y, node), expected) <= rounding);
      if (i >= lengths[b]) continue;
      sum_received = sum_received + received;
      sum_nodes = sum_nodes + row(x, node) + expected;
    }
    const real count = static_cast<real>(lengths[b]);
    const Tensor read = concat({sum_received * (1 / count), sum_nodes * (1 / count), u}, 1);
    CHECK(relative_difference(row(next, b), u + affine(gelu(affine(read, "global_hidden")),
                                                       "global_output")) <= rounding);
  }
  check_mixing(mixing, x, context);
}

TEST_CASE("a global vector changes nodes through queries and through values") {
  const Tensor x = random_tensor({2, 4, 4}, 1), other = random_tensor({2, 4}, 6);
  const Edges edges = some_edges(0);
  for (const std::string silenced : {"", "layer.global_query", "layer.global_value", "both"}) {
    CAPTURE(silenced);
    ReadsGlobal mixing(4, 2, 0);
    shake(mixing);
    for (const NamedParameter& p : mixing.parameters())
      if (p.name == silenced + ".weight" ||
          (silenced == "both" &&
           (p.name == "layer.global_query.weight" || p.name == "layer.global_value.weight")))
        std::fill_n(Tensor(p.tensor).mutable_data(), p.tensor.size(), real{0});
    const Tensor before = mixing.outputs(x, with(edges)).first;
    std::copy_n(other.data(), other.size(), mixing.parameter("u").mutable_data());
    const Tensor after = mixing.outputs(x, with(edges)).first;
    if (silenced == "both")
      CHECK(relative_difference(after, before) == 0);
    else
      CHECK(relative_difference(after, before) >= 1e-2);
  }
}

TEST_CASE("what a global vector becomes does not depend on the order of nodes and edges") {
  const ReadsGlobal mixing(4, 2, 0);
  shake(mixing);
  const Tensor x = random_tensor({2, 4, 4}, 1);
  const Ids from = Ids::from({8}, {2, 0, 3, 1, 5, 7, 4, 6});  // new node n is old node from[n]
  int32_t renamed[8];
  for (int32_t n = 0; n < 8; ++n) renamed[from[n]] = n;
  const Edges edges = some_edges(0);
  Edges moved{Ids::empty({8}), Ids::empty({8}), {}};
  for (int64_t e = 0; e < 8; ++e) {
    moved.sender.mutable_data()[e] = renamed[edges.sender[7 - e]];
    moved.receiver.mutable_data()[e] = renamed[edges.receiver[7 - e]];
  }
  const auto [y, next] = mixing.outputs(x, with(edges));
  const auto [other, same] = mixing.outputs(reordered(x, from), with(moved));
  CHECK(relative_difference(same, next) <= rounding);
  CHECK(relative_difference(other, reordered(y, from)) <= rounding);
  CHECK(relative_difference(mixing.outputs(x, with(moved)).second, next) >= 1e-3);
}

TEST_CASE("a classifier of graphs reads a global vector, and its head what the layers make of it") {
  ModelOptions o{.kind = ModelKind::classifier};
  o.dim = 8;
  o.heads = 2;
  o.positional.kind = &positional_encodings::none;
  o.mixing.kind = &mixings::graph_attention;
  o.mixing.global = 3;
  Inputs inputs;
  inputs.features = random_tensor({2, 4, 2}, 1);
  inputs.input_lengths = Ids::from({2}, {4, 3});
  inputs.edges = some_edges(0);
  inputs.global = random_tensor({2, 5}, 2);
  for (const Pool pool : {Pool::mean, Pool::first, Pool::learned, Pool::queries, Pool::none}) {
    o.pool = pool;
    const auto model = make_model(o, {.classes = 3, .features = 2, .global = 5});
    const Tensor logits = model->logits(inputs);
    Inputs other = inputs;
    other.global = random_tensor({2, 5}, 3);
    CHECK(relative_difference(model->logits(other), logits) >= 1e-3);
    other.global = {};
    CHECK_THROWS_WITH_AS(model->logits(other), doctest::Contains("a vector of each graph"), Error);
    const auto from_zero = make_model(o, {.classes = 3, .features = 2});
    CHECK(from_zero->logits(other).shape() == logits.shape());
  }
  // With the last layer's update alone left, the head still sees u.
  o.pool = Pool::mean;
  const auto model = make_model(o, {.classes = 3, .features = 2, .global = 5});
  for (const NamedParameter& p : model->parameters())
    if (p.name.find("global_query") != p.name.npos || p.name.find("global_value") != p.name.npos)
      std::fill_n(Tensor(p.tensor).mutable_data(), p.tensor.size(), real{0});
  Inputs other = inputs;
  other.global = random_tensor({2, 5}, 3);
  CHECK(relative_difference(model->logits(other), model->logits(inputs)) >= 1e-3);
  o.kind = ModelKind::seq2seq;
  CHECK_THROWS_WITH_AS(o.validate(), doctest::Contains("`block.global` = 3 needs"), InputError);
}

TEST_CASE("edge features change both keys and values") {
  const Tensor x = random_tensor({2, 4, 4}, 1);
  for (const char* silenced : {"edge_key.weight", "edge_value.weight", ""}) {
    CAPTURE(silenced);
    const GraphAttention layer(4, 2, 3);
    shake(layer);
    for (const NamedParameter& p : layer.parameters())
      if (p.name == silenced)
        std::fill_n(Tensor(p.tensor).mutable_data(), p.tensor.size(), real{0});
    Edges other = some_edges(3);
    const Tensor y = layer(x, with(some_edges(3)));
    other.features = random_tensor({8, 3}, 8);
    CHECK(relative_difference(layer(x, with(other)), y) >= 1e-2);
  }
}

TEST_CASE("graph attention rejects unsupported inputs") {
  CHECK_THROWS_WITH_AS(GraphAttention(6, 4, 0), doctest::Contains("`heads` = 4"), Error);
  CHECK_THROWS_WITH_AS(GraphAttention(6, 0, 0), doctest::Contains("heads: expected"), Error);
  const GraphAttention layer(4, 2, 0), featured(4, 2, 3);
  const Tensor x = Tensor::zeros({2, 4, 4});
  const auto rejects = [&x](const GraphAttention& attention_layer, const Edges& edges,
                            const char* text) {
    CHECK_THROWS_WITH_AS(attention_layer(x, with(edges)), doctest::Contains(text), Error);
  };
  rejects(layer, {}, "must be a graph");
  rejects(GraphAttention(4, 2, 0, {}, {}, 3), some_edges(0), "a vector of width 3 for each graph");
  rejects(layer, {Ids::from({2}, {0, 1}), Ids::from({1}, {1}), {}}, "of one length");
  rejects(layer, {Ids::from({1, 1}, {0}), Ids::from({1, 1}, {1}), {}}, "[1, 1]");
  rejects(layer, {Ids::from({1}, {0}), Ids::from({1}, {8}), {}}, "edge 0 joins positions 0 and 8");
  rejects(layer, {Ids::from({1}, {-1}), Ids::from({1}, {0}), {}}, "-1");
  rejects(layer, {Ids::from({1}, {3}), Ids::from({1}, {4}), {}}, "one of 2 examples");
  rejects(featured, some_edges(0), "features of shape [8, 3]");
  rejects(featured, some_edges(2), "have [8, 2]");
  CHECK_THROWS_WITH_AS(layer(Tensor::zeros({2, 4, 6}), with(some_edges(0))),
                       doctest::Contains("[2, 4, 6]"), Error);
  const Edges edges = some_edges(0);
  SequenceContext causal = with(edges);
  causal.mask.causal = true;
  CHECK_THROWS_WITH_AS(layer(x, causal), doctest::Contains("causal"), Error);
}
