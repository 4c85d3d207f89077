// Graphs over the positions of a batch, and distances on them as a learned bias of the scores of
// attention (Ying et al. 2021, "Graphormer", section 3.1.2, with undirected graphs).
#pragma once

#include "core/inputs.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Throws Error, naming `operation`, unless every edge joins two positions of one of `batch`
// examples of `time` positions and has so many features, or any for 0.
void check_edges_fit(const Edges& edges, const char* operation, int64_t batch, int64_t time,
                     int64_t edge_features = 0);

// The length of the shortest path, along edges from sender to receiver, from the position of a key
// to that of a query: (B, T, T), [b, i, j] from j to i; max_distance + 1 if there is none, or only
// longer ones. Throws Error for an edge to a position that does not exist or in another example.
Ids graph_distances(const Edges& edges, int64_t batch, int64_t time, int64_t max_distance);

// A learned bias for each head and distance, with one for all distances above max_distance.
class GraphDistanceBias : public Module {
 public:
  GraphDistanceBias(int64_t heads, int64_t max_distance);
  // → (B, H, T, T)
  Tensor operator()(const Edges& edges, int64_t batch, int64_t time) const;

  Part<Tensor> weight;  // (max_distance + 2, H), starts at 0: as if there were no graph

 private:
  int64_t max_distance_;
};

}  // namespace heed::inline HEED_REAL
