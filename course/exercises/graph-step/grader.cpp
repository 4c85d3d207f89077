#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor graph_step(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& edge, const Ids& sender, const Ids& receiver);

void grade_graph_step(Grader& g, Tensor (*graph_step)(const Tensor& q, const Tensor& k,
                                                      const Tensor& v, const Tensor& edge,
                                                      const Ids& sender, const Ids& receiver)) {
  const auto check = [&](int64_t nodes, const Ids& sender, const Ids& receiver, int64_t width,
                         int64_t value_width) {
    const int64_t edges = sender.size();
    const auto at = [](auto... axes) { return Index{{axes...}, sizeof...(axes)}; };
    const auto from = [=](int64_t e) { return static_cast<int64_t>(sender[e]); };
    const auto to = [=](int64_t e) { return static_cast<int64_t>(receiver[e]); };
    const auto everywhere = [](int64_t) { return int64_t{0}; };
    const double root = 1 / std::sqrt(static_cast<double>(width));
    // exp(scale · q[asks(e)] · (k[asked(e)] + with_edge · edge[e]))
    const auto exponential = [=](auto asks, auto asked, double scale, double with_edge) {
      return [=](Arrays x, int64_t e) {
        return std::exp(scale * sum_over(width, [&](int64_t c) {
                          return x[0](at(asks(e), c)) *
                                 (x[1](at(asked(e), c)) + with_edge * x[3](at(e, c)));
                        }));
      };
    };
    const auto right = exponential(to, from, root, 1);
    // The weight of an edge: f(e) divided by the sum of f over the edges of its segment.
    const auto weight = [=](auto f, auto segment) {
      return [=](Arrays x, int64_t e) {
        return f(x, e) / sum_over(edges, [&](int64_t other) {
                 return segment(other) == segment(e) ? f(x, other) : 0;
               });
      };
    };
    // Σ weight(e) v[read(e), c] over the edges with collects(e) = i
    const auto sum_of = [=](auto edge_weight, auto collects, auto read) {
      return [=](Arrays x, const Index& i) {
        return sum_over(edges, [&](int64_t e) {
          return collects(e) == i[0] ? edge_weight(x, e) * x[2](at(read(e), i[1])) : 0;
        });
      };
    };
    const auto weighted = [=](auto f) { return sum_of(weight(f, to), to, from); };
    const auto step = weighted(right);
    const auto degree = [=](int64_t i) {
      return sum_over(edges, [&](int64_t e) { return to(e) == i ? 1 : 0; });
    };
    const auto last_of_its_kind = [=](int64_t e) {
      for (int64_t other = e + 1; other < edges; ++other)
        if (from(other) == from(e) && to(other) == to(e)) return false;
      return true;
    };
    std::string list;
    for (int64_t e = 0; e < edges; ++e) list += fmt::format(" {}→{}", from(e), to(e));
    g.check(
        {.name = fmt::format("{} nodes, edges{}; K = {}, V = {}", nodes, list, width, value_width),
         .inputs = {{nodes, width}, {nodes, width}, {nodes, value_width}, {edges, width}},
         .result = {nodes, value_width},
         .op = [=](Tensors x) { return graph_step(x[0], x[1], x[2], x[3], sender, receiver); },
         .definition = step,
         .low = -1.5,
         .high = 1.5,
         .arguments = {"q", "k", "v", "edge"}},
        {wrong_value("Every edge is walked backwards: the sender asks, and reads the receiver.",
                     sum_of(weight(exponential(from, to, root, 1), from), from, to)),
         wrong_value("The query is the sender's and the key the receiver's. The node that receives "
                     "asks.",
                     weighted(exponential(from, to, root, 1))),
         wrong_value(
             "The softmax runs over all edges of the graph. It must run over the edges into "
             "each node.",
             sum_of(weight(right, everywhere), to, from)),
         wrong_value(
             "The softmax runs over the edges that leave a node. It must run over those that "
             "enter one.",
             sum_of(weight(right, from), to, from)),
         wrong_value(
             "The edges into a node are summed twice: every node has its mean as many times "
             "as it has edges (White's equations 12.17 and 12.19).",
             [=](Arrays x, const Index& i) { return step(x, i) * degree(i[0]); }),
         wrong_value("The messages are averaged over the edges. Their weights add up to 1 already: "
                     "sum them.",
                     [=](Arrays x, const Index& i) {
                       return degree(i[0]) > 0 ? step(x, i) / degree(i[0]) : 0;
                     }),
         wrong_value("This is the plain mean of the senders' values: the scores do not matter.",
                     weighted([](Arrays, int64_t) { return 1.0; })),
         wrong_value("This is the plain sum of the senders' values, without weights.",
                     sum_of([](Arrays, int64_t) { return 1.0; }, to, from)),
         wrong_value("The exponentials are not divided by their sum.", sum_of(right, to, from)),
         wrong_value("The vectors of the edges are missing: they are added to the keys.",
                     weighted(exponential(to, from, root, 0))),
         wrong_value("The scores are not scaled: they must be divided by √K.",
                     weighted(exponential(to, from, 1, 1))),
         wrong_value("The scores are divided by K, not by its root.",
                     weighted(exponential(to, from, root * root, 1))),
         wrong_value("The values are those of the receiver: a node reads itself. Read the sender.",
                     sum_of(weight(right, to), to, to)),
         wrong_value("The messages are collected at the sender. They arrive at the receiver.",
                     sum_of(weight(right, to), from, from)),
         wrong_value(
             "Of two edges with the same ends only one is read: a matrix of pairs has no room "
             "for both.",
             weighted([=](Arrays x, int64_t e) { return last_of_its_kind(e) ? right(x, e) : 0; })),
         wrong_value(
             "These are the messages of the edges, (E, V). Sum those into each node.",
             [=](Arrays x, const Index& i) {
               return weight(right, to)(x, i[0]) * x[2](at(from(i[0]), i[1]));
             },
             Shape{edges, value_width})});
  };
  // Node 0 has no incoming edge, node 1 has three in no order, two of them from the same node.
  const auto any = [&] { return static_cast<int32_t>(g.size(0, 4)); };
  check(5, Ids::from({8}, {any(), 3, 0, any(), 0, 4, any(), 2}),
        Ids::from({8}, {2, 1, 1, 4, 1, 3, 2, 4}), g.size(2, 3), g.size(4, 5));
  check(3, Ids::from({4}, {0, 1, 2, 2}), Ids::from({4}, {2, 2, 0, 2}), 4, g.size(1, 3));
  check(2, Ids::from({1}, {1}), Ids::from({1}, {0}), 1, g.size(1, 2));
  if (!g.passed()) return;
  const Tensor q = Tensor::from({3, 2}, {900, 900, 400, 400, 0, 0}), one = Tensor::full({3, 1}, 1);
  const Tensor y = graph_step(q, g.tensor({3, 2}, 400, 900), one, Tensor::zeros({3, 2}),
                              Ids::from({3}, {0, 1, 0}), Ids::from({3}, {0, 0, 1}));
  g.expect(std::isfinite(y.data()[0]) && std::isfinite(y.data()[1]),
           fmt::format("scores of 200,000 and more: got {} and {}, expected 1 and 1", y.data()[0],
                       y.data()[1]),
           "The exponential of a large score is infinite: subtract the maximum of the edges into a "
           "node first, or call segment_softmax.");
}
HEED_GRADE(graph_step, graph_step);

}  // namespace heed::course
