// Defines nn/forms/graph.h: the check of edges, then distances, then their bias.
#include "nn/forms/graph.h"

#include <limits>
#include <vector>

#include "core/ops.h"
#include "core/scope.h"
#include "nn/init.h"

namespace heed::inline HEED_REAL {

void check_edges_fit(const Edges& edges, const char* operation, int64_t batch, int64_t time,
                     int64_t edge_features) {
  const auto& [sender, receiver, features] = edges;
  const int64_t positions = batch * time, count = sender.size();
  check(sender.shape() == Shape{count} && receiver.shape() == Shape{count},
        "{}: senders {} and receivers {} must be vectors of one length", operation, sender.shape(),
        receiver.shape());
  for (int64_t e = 0; e < count && !scope().shapes_only; ++e) {
    const int64_t from = sender[e], to = receiver[e];
    check(from >= 0 && from < positions && to >= 0 && to < positions && from / time == to / time,
          "{}: edge {} joins positions {} and {}, which must lie in one of {} examples of {} "
          "positions",
          operation, e, from, to, batch, time);
  }
  if (edge_features > 0)
    check(features && features.shape() == Shape{count, edge_features},
          "{}: {} edges need features of shape [{}, {}], have {}", operation, count, count,
          edge_features, features ? features.shape() : Shape{0});
}

namespace {

// The senders of the edges into each position, as one array.
struct IncomingEdges {
  std::vector<int64_t> first;  // position p has senders [first[p], first[p + 1])
  std::vector<int64_t> senders;
};

IncomingEdges incoming_edges(const Edges& edges, int64_t batch, int64_t time) {
  const int64_t positions = batch * time, count = edges.sender.size();
  check_edges_fit(edges, "graph distances", batch, time);
  IncomingEdges in{std::vector<int64_t>(static_cast<size_t>(positions) + 1),
                   std::vector<int64_t>(static_cast<size_t>(count))};
  for (int64_t e = 0; e < count; ++e) ++in.first[static_cast<size_t>(edges.receiver[e]) + 1];
  for (size_t p = 0; p < static_cast<size_t>(positions); ++p) in.first[p + 1] += in.first[p];
  std::vector<int64_t> next = in.first;
  for (int64_t e = 0; e < count; ++e)
    in.senders[static_cast<size_t>(next[static_cast<size_t>(edges.receiver[e])]++)] =
        edges.sender[e];
  return in;
}

}  // namespace

Ids graph_distances(const Edges& edges, int64_t batch, int64_t time, int64_t max_distance) {
  check(max_distance >= 0 && max_distance < std::numeric_limits<int32_t>::max(),
        "graph distances: a maximum distance of {} is out of range", max_distance);
  if (scope().shapes_only) return Ids::empty({batch, time, time});
  Ids distances = Ids::full({batch, time, time}, static_cast<int32_t>(max_distance + 1));
  const IncomingEdges in = incoming_edges(edges, batch, time);
  std::vector<int64_t> queue;
  for (int64_t query = 0; query < batch * time; ++query) {  // breadth first, against the edges
    const int64_t example = query / time * time;            // its first position
    int32_t* const distance = distances.mutable_data() + query * time - example;
    distance[query] = 0;
    queue.assign(1, query);
    for (size_t n = 0; n < queue.size() && distance[queue[n]] < max_distance; ++n) {
      const auto p = static_cast<size_t>(queue[n]);
      for (int64_t e = in.first[p]; e < in.first[p + 1]; ++e) {
        const int64_t sender = in.senders[static_cast<size_t>(e)];
        if (distance[sender] <= max_distance) continue;  // reached by a path that is not longer
        distance[sender] = distance[queue[n]] + 1;
        queue.push_back(sender);
      }
    }
  }
  return distances;
}

GraphDistanceBias::GraphDistanceBias(int64_t heads, int64_t max_distance)
    : weight(this, "weight", constant_parameter({max_distance + 2, heads}, 0)),
      max_distance_(max_distance) {}

Tensor GraphDistanceBias::operator()(const Edges& edges, int64_t batch, int64_t time) const {
  return permute(embedding(weight, graph_distances(edges, batch, time, max_distance_)),
                 {0, 3, 1, 2});
}

}  // namespace heed::inline HEED_REAL
