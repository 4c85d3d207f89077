#include "course/grader/grader.h"

#include <cmath>
#include <map>

namespace heed::course {

[[gnu::weak]] Tensor graph_step(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& edge, const Ids& sender, const Ids& receiver);

void grade_graph_step(Grader& g, decltype(&graph_step) answer) {
  const auto check = [&](int64_t nodes, const Ids& sender, const Ids& receiver, int64_t width,
                         int64_t value_width) {
    const int64_t edges = sender.size();
    const auto at = [](auto... axes) { return Index{{axes...}, sizeof...(axes)}; };
    const auto from = [=](int64_t e) { return static_cast<int64_t>(sender[e]); };
    const auto to = [=](int64_t e) { return static_cast<int64_t>(receiver[e]); };
    const double root = std::sqrt(static_cast<double>(width));
    const auto exponential = [=](Arrays x, int64_t e) {
      return std::exp(sum_over(width,
                               [&](int64_t c) {
                                 return x[0](at(to(e), c)) *
                                        (x[1](at(from(e), c)) + x[3](at(e, c)));
                               }) /
                      root);
    };
    const auto definition = [=](Arrays x, const Index& i) {
      double total = 0, result = 0;
      for (int64_t e = 0; e < edges; ++e) {
        if (to(e) != i[0]) continue;
        total += exponential(x, e);
        result += exponential(x, e) * x[2](at(from(e), i[1]));
      }
      return total > 0 ? result / total : 0;
    };
    std::string list;
    for (int64_t e = 0; e < edges; ++e) list += fmt::format(" {}→{}", from(e), to(e));
    g.check(
        {.name = fmt::format("{} nodes, edges{}; K = {}, V = {}", nodes, list, width, value_width),
         .inputs = {{nodes, width}, {nodes, width}, {nodes, value_width}, {edges, width}},
         .result = {nodes, value_width},
         .op = [=](Tensors x) { return answer(x[0], x[1], x[2], x[3], sender, receiver); },
         .definition = definition,
         .low = -1.5,
         .high = 1.5,
         .arguments = {"q", "k", "v", "edge"}});
  };
  // Node 0 has no incoming edge, node 1 has three in no order, two of them from the same node.
  const auto any = [&] { return static_cast<int32_t>(g.size(0, 4)); };
  check(5, Ids::from({8}, {any(), 3, 0, any(), 0, 4, any(), 2}),
        Ids::from({8}, {2, 1, 1, 4, 1, 3, 2, 4}), g.size(2, 3), g.size(4, 5));
  check(3, Ids::from({4}, {0, 1, 2, 2}), Ids::from({4}, {2, 2, 0, 2}), 4, g.size(1, 3));
  check(2, Ids::from({1}, {1}), Ids::from({1}, {0}), 1, g.size(1, 2));
  if (!g.passed()) return;
  const Tensor q = Tensor::from({3, 2}, {900, 900, 400, 400, 0, 0}), one = Tensor::full({3, 1}, 1);
  const Tensor y = answer(q, g.tensor({3, 2}, 400, 900), one, Tensor::zeros({3, 2}),
                          Ids::from({3}, {0, 1, 0}), Ids::from({3}, {0, 0, 1}));
  g.expect(std::isfinite(y.data()[0]) && std::isfinite(y.data()[1]),
           fmt::format("scores of 200,000 and more: got {} and {}, expected 1 and 1", y.data()[0],
                       y.data()[1]),
           "The exponential of a large score is infinite: subtract the maximum of the edges into a "
           "node first, or call segment_softmax.");
}

namespace {
namespace graph_step_answers {

struct Graph {
  const Tensor &q, &k, &v, &edge;
  const Ids &sender, &receiver;

  double root() const { return std::sqrt(static_cast<double>(q.dim(1))); }
  // Of each edge, q[asks] · (k[asked] + edge) / √K
  Tensor scores(const Ids& asks, const Ids& asked) const {
    return sum(embedding(q, asks) * (embedding(k, asked) + edge), {1}) / root();
  }
  Tensor scores() const { return scores(receiver, sender); }
  Tensor softmax_over(const Ids& segments, const Tensor& of) const {
    return segment_softmax(of, segments, q.dim(0));
  }
  Tensor weights() const { return softmax_over(receiver, scores()); }
  // (E, V): weight · v[read]
  Tensor messages(const Tensor& weight, const Ids& read) const {
    return weight.reshape({weight.size(), 1}) * embedding(v, read);
  }
  Tensor into(const Ids& nodes, const Tensor& message) const {
    return segment_sum(message, nodes, q.dim(0));
  }
  Tensor step(const Tensor& weight) const { return into(receiver, messages(weight, sender)); }
  Tensor degrees() const { return into(receiver, Tensor::full({receiver.size(), 1}, 1)); }
};

template <auto step>
Tensor graph(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
             const Ids& sender, const Ids& receiver) {
  return step(Graph{q, k, v, edge, sender, receiver});
}

// Of the edges with the same ends only the last remains, as in a matrix of pairs.
Tensor step_of_pairs(const Graph& g) {
  std::map<std::pair<int32_t, int32_t>, int64_t> matrix;
  for (int64_t e = 0; e < g.sender.size(); ++e) matrix[{g.sender[e], g.receiver[e]}] = e;
  std::vector<Tensor> vectors;
  std::vector<int32_t> from, to;
  for (const auto& [ends, e] : matrix) {
    vectors.push_back(slice(g.edge, 0, e, e + 1));
    from.push_back(ends.first), to.push_back(ends.second);
  }
  const Shape shape{static_cast<int64_t>(from.size())};
  const Tensor edge = concat(vectors, 0);
  const Ids sender = Ids::from(shape, from), receiver = Ids::from(shape, to);
  const Graph pairs{g.q, g.k, g.v, edge, sender, receiver};
  return pairs.step(pairs.weights());
}

const Exercise graph_step_exercise(
    "graph_step", grade_graph_step, {graph_step},
    {{"", graph<[](const Graph& g) { return g.step(g.weights()); }>},
     {"Every edge is reversed: the sender asks and reads the receiver. The receiver must ask.",
      graph<[](const Graph& g) {
        const Tensor weight = g.softmax_over(g.sender, g.scores(g.sender, g.receiver));
        return g.into(g.sender, g.messages(weight, g.receiver));
      }>},
     {"The query is the sender's and the key is the receiver's. The query must be the receiver's.",
      graph<[](const Graph& g) {
        return g.step(g.softmax_over(g.receiver, g.scores(g.sender, g.receiver)));
      }>},
     {"The softmax runs over all edges of the graph. It must run over the edges into each node.",
      graph<[](const Graph& g) { return g.step(softmax(g.scores(), 0)); }>},
     {"The softmax runs over the edges that leave a node. It must run over those that enter one.",
      graph<[](const Graph& g) { return g.step(g.softmax_over(g.sender, g.scores())); }>},
     {"The edges into a node are summed twice: every node has its mean as many times as it has "
      "edges (White's equations 12.17 and 12.19).",
      graph<[](const Graph& g) { return g.step(g.weights()) * g.degrees(); }>},
     {"The messages are averaged over the edges. Their weights add up to 1 already: sum them.",
      graph<[](const Graph& g) { return g.step(g.weights()) / (g.degrees() + real{1e-300}); }>},
     {"This is the plain mean of the senders' values: the scores do not matter.",
      graph<[](const Graph& g) { return g.step(g.softmax_over(g.receiver, 0 * g.scores())); }>},
     {"This is the plain sum of the senders' values, without weights.",
      graph<[](const Graph& g) { return g.step(Tensor::full({g.edge.dim(0)}, 1)); }>},
     {"The exponentials are not divided by their sum.",
      graph<[](const Graph& g) { return g.step(exp(g.scores())); }>},
     {"The vectors of the edges are missing: they are added to the keys.",
      graph<[](const Graph& g) {
        const Tensor none = 0 * g.edge;
        const Graph without{g.q, g.k, g.v, none, g.sender, g.receiver};
        return without.step(without.weights());
      }>},
     {"The scores are not scaled: they must be divided by √K.", graph<[](const Graph& g) {
        return g.step(g.softmax_over(g.receiver, g.scores() * g.root()));
      }>},
     {"The scores are divided by K, not by its root.", graph<[](const Graph& g) {
        return g.step(g.softmax_over(g.receiver, g.scores() / g.root()));
      }>},
     {"The scores are negated: edges that fit a node less get the larger weights.",
      graph<[](const Graph& g) { return g.step(g.softmax_over(g.receiver, -g.scores())); }>},
     {"The values are those of the receiver: a node reads itself. Read the sender.",
      graph<[](const Graph& g) {
        return g.into(g.receiver, g.messages(g.weights(), g.receiver));
      }>},
     {"The messages are collected at the sender. They arrive at the receiver.",
      graph<[](const Graph& g) { return g.into(g.sender, g.messages(g.weights(), g.sender)); }>},
     {"If two edges connect the same nodes, only one is read: a matrix of pairs has no room for "
      "both.",
      graph<step_of_pairs>},
     {"These are the messages of the edges, (E, V). Sum those into each node.",
      graph<[](const Graph& g) { return g.messages(g.weights(), g.sender); }>}});

}  // namespace graph_step_answers
}  // namespace
}  // namespace heed::course
