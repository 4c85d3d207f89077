// Graph: which colour is the marked node two steps from node 0? This takes two layers.
//
// A connected graph of n nodes, n within data.lengths: a random tree and up to n/4 more edges
// between random nodes. Each node has one of data.symbols colours. Some nodes are marked: one of
// those at distance two from node 0 and, as distractors, all that are further away. A position is a
// node; its vector is the colour as one-hot, then 1 if the node is marked. Every edge exists in
// both directions, and every node has an edge to itself. Edges are ordered by receiver. The label
// is the colour of the marked node at distance two. With 3 colours, as node:colour, marked nodes in
// [ ]:
//
//   0:2 — 1:0 — [2:1] — [3:0] — [4:2]       label 1
//
//   features    0 0 1 0    1 0 0 0    0 1 0 1    1 0 0 1    0 0 1 1
//   sender      0 1   0 1 2   1 2 3   2 3 4   3 4
//   receiver    0 0   1 1 1   2 2 2   3 3 3   4 4
//
// With data.edge_kinds = K > 0 the features of an edge are its kind as one-hot, or zeros for an
// edge from a node to itself. The tree's edges are of kind 0, the others of the kinds 1 … K-1 (of
// kind 0 if K = 1), and distance is counted over edges of kind 0 only.
//
// Held out: the graph with its colours and marks.
//
// The colours of node 0 and its neighbours say nothing, so one layer of graph attention only
// guesses, 1/S. Two layers are enough: every node looks for a marked neighbour, then node 0 for a
// neighbour that found one. A model that ignores the edges sees many marked nodes and can only
// guess among them.
#include <algorithm>
#include <compare>
#include <numeric>

#include "core/check.h"
#include "data/tasks/task.h"

namespace heed {

namespace {

constexpr int32_t self_kind = -1;  // of an edge from a node to itself

struct Edge {
  int32_t receiver, sender, kind;
  auto operator<=>(const Edge&) const = default;
};

class Graphs {
 public:
  Graphs(Lengths lengths, int64_t colours, int64_t edge_kinds)
      : lengths_(lengths), colours_(colours), edge_kinds_(edge_kinds) {}

  void operator()(Random& random, Example& example, Content& content) {
    do {
      draw_edges(random, any_length(random, lengths_));
      measure_distances();
    } while (std::count(distance_.begin(), distance_.end(), 2) == 0);
    draw_marks(random);
    write(random, example);
    content = colour_;
    content.insert(content.end(), is_marked_.begin(), is_marked_.end());
    for (const Edge& edge : edges_)
      content.insert(content.end(), {edge.receiver, edge.sender, edge.kind});
  }

 private:
  void join(int32_t a, int32_t b, int32_t kind) {
    edges_.push_back({a, b, kind});
    edges_.push_back({b, a, kind});
  }

  void draw_edges(Random& random, int64_t nodes) {
    // The tree grows from node 0. Each node is joined to one of the three before it, so that the
    // tree becomes deep. The other nodes are numbered at random, so that a low number does not mean
    // a short distance.
    number_.resize(static_cast<size_t>(nodes));
    std::iota(number_.begin(), number_.end(), 0);
    shuffle(random, number_);
    std::swap(*std::find(number_.begin(), number_.end(), 0), number_[0]);
    edges_.clear();
    for (size_t i = 0; i < number_.size(); ++i) {
      edges_.push_back({number_[i], number_[i], self_kind});
      if (i > 0) join(number_[i], number_[i - 1 - random.below(std::min<size_t>(i, 3))], 0);
    }
    for (int64_t more = nodes / 4; more > 0; --more) {
      const int32_t kind = edge_kinds_ > 1 ? 1 + any_below(random, edge_kinds_ - 1) : 0;
      const int32_t a = any_below(random, nodes), b = any_below(random, nodes);
      join(a, b, kind);
    }
    // Of several edges between the same two nodes, keep the one of the lowest kind.
    std::sort(edges_.begin(), edges_.end());
    const auto same_nodes = [](const Edge& a, const Edge& b) {
      return a.receiver == b.receiver && a.sender == b.sender;
    };
    edges_.erase(std::unique(edges_.begin(), edges_.end(), same_nodes), edges_.end());
  }

  // Breadth first from node 0, over edges of kind 0.
  void measure_distances() {
    const size_t nodes = number_.size();
    distance_.assign(nodes, -1);
    distance_[0] = 0;
    reached_.assign(1, 0);
    for (size_t next = 0; next < reached_.size(); ++next) {
      const int32_t node = reached_[next];
      auto edge = std::lower_bound(edges_.begin(), edges_.end(), Edge{node, 0, self_kind});
      for (; edge != edges_.end() && edge->receiver == node; ++edge) {
        int32_t& distance = distance_[static_cast<size_t>(edge->sender)];
        if (edge->kind != 0 || distance >= 0) continue;
        distance = distance_[static_cast<size_t>(node)] + 1;
        reached_.push_back(edge->sender);
      }
    }
  }

  void draw_marks(Random& random) {
    is_marked_.assign(distance_.size(), 0);
    int64_t which = any_below(random, std::count(distance_.begin(), distance_.end(), 2));
    for (size_t node = 0; node < distance_.size(); ++node) {
      if (distance_[node] == 2 && which-- == 0) {
        is_marked_[node] = 1;
        labelled_ = node;
      }
      if (distance_[node] > 2) is_marked_[node] = 1;
    }
  }

  void write(Random& random, Example& example) {
    const size_t nodes = distance_.size(), width = static_cast<size_t>(colours_) + 1;
    example.features.assign(nodes * width, 0.0F);
    colour_.resize(nodes);
    for (size_t node = 0; node < nodes; ++node) {
      colour_[node] = any_below(random, colours_);
      float* const features = example.features.data() + node * width;
      features[colour_[node]] = 1;
      features[colours_] = static_cast<float>(is_marked_[node]);
    }
    example.target.assign(1, colour_[labelled_]);
    example.sender.clear();
    example.receiver.clear();
    const auto kinds = static_cast<size_t>(edge_kinds_);
    example.edge_features.assign(edges_.size() * kinds, 0.0F);
    for (size_t e = 0; e < edges_.size(); ++e) {
      example.sender.push_back(edges_[e].sender);
      example.receiver.push_back(edges_[e].receiver);
      if (kinds > 0 && edges_[e].kind != self_kind)
        example.edge_features[e * kinds + static_cast<size_t>(edges_[e].kind)] = 1;
    }
  }

  Lengths lengths_;
  int64_t colours_, edge_kinds_;
  // Working space: by edge, then by node.
  std::vector<Edge> edges_;
  std::vector<int32_t> number_, distance_, reached_, is_marked_, colour_;
  size_t labelled_ = 0;  // the node that gives the label
};

Task graph_task(const DataOptions& options, Lengths lengths) {
  Task task;
  task.format = {options.symbols + 1, true, options.edge_kinds};
  task.labels = numbered(options.symbols);
  task.longest_input = lengths.most;
  // To itself, of the tree in both directions, and of n/4 further ones.
  task.max_edges = lengths.most + 2 * (lengths.most - 1) + 2 * (lengths.most / 4);
  task.draw = Graphs(lengths, options.symbols, options.edge_kinds);
  return task;
}

void check_graph(const DataOptions& options) {
  check_shortest(options, 3, "a graph needs a node two steps from node 0");
  check_input(options.symbols <= max_symbols,
              "`symbols` = {} colours are too many for `kind` = \"graph\", which gives each node a "
              "feature per colour: use at most {}",
              options.symbols, max_symbols);
}

}  // namespace

const DataKind data_kinds::graph = {.name = "graph",
                                    .keys = {"lengths", "symbols", "edge_kinds"},
                                    .framings = {ModelKind::classifier},
                                    .check = check_graph,
                                    .task = graph_task};

}  // namespace heed
