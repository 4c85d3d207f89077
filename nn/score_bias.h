// What is added to the scores of attention, before they become weights, for the places of query and
// key: how far apart they are in the sequence, or on a graph.
//
//   s'(h, i, j) = s(h, i, j) + bias(h, i, j)
//
// Unlike a KeepMask, a bias is a number, and a learned one has a gradient.
#pragma once

#include <vector>

#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

class ScoreBias : public Module {
 public:
  // → (H, Tq, Tk), the same for every example. Queries and keys are aligned at their ends, as under
  // a KeepMask: query i stands at key i + Tk - Tq.
  virtual Tensor operator()(int64_t queries, int64_t keys) const = 0;
};

// -mₕ |i - j|: attention with linear biases (Press et al. 2022, section 3). Under their causal mask
// |i - j| is i - j; without one, a later key is as far as an earlier one. Nothing is learned.
class AlibiBias : public ScoreBias {
 public:
  explicit AlibiBias(int64_t heads);
  Tensor operator()(int64_t queries, int64_t keys) const override;

 private:
  std::vector<double> slopes_;
  mutable Tensor table_;  // of the last sizes
};

// The slopes m₁ … m_H: 2^(-8h/H) for H a power of two. Else those of the power of two below,
// followed by the odd ones of its double, as the authors' code has it.
std::vector<double> alibi_slopes(int64_t heads);

// A learned number for each head and bucket of distances (Raffel et al. 2020, section 2.1).
class RelativeBias : public ScoreBias {
 public:
  // Weights start as N(0, std²). Throws Error unless some distances have a bucket of their own, and
  // max_distance is beyond them.
  RelativeBias(int64_t heads, int64_t buckets, int64_t max_distance, bool bidirectional,
               double std);
  Tensor operator()(int64_t queries, int64_t keys) const override;

  Tensor weight;  // (buckets, H)

 private:
  int64_t max_distance_;
  bool bidirectional_;
  mutable Ids buckets_;  // (Tq, Tk) of the last sizes
};

// The bucket of a key `gap` places after its query (before it, if negative). Of the N buckets of a
// direction, the first E = N/2 hold one distance each; the others cut what lies from there to
// max_distance into pieces that are equal in logarithm, and the last holds all beyond:
//   E + ⌊(N - E) log(distance / E) / log(max_distance / E)⌋, at most N - 1
// If bidirectional, N = buckets / 2, and later keys have the second half; else N = buckets, and
// later keys, which a causal mask hides, count as distance 0.
int64_t relative_bucket(int64_t gap, int64_t buckets, int64_t max_distance, bool bidirectional);

// The fewest edges to follow, from sender to receiver, to get from the place of a key to that of a
// query: (B, T, T), [b, i, j] from j to i. It is most + 1 where there is no way, or a longer one.
// Throws Error for an edge to a place that is not there, or in another example.
Ids graph_distances(const Edges& edges, int64_t batch, int64_t time, int64_t most);

// A learned number for each head and distance on a graph, with one for all that are further than
// `most` (Ying et al. 2021, section 3.1.2, where the graphs have no directions).
class GraphDistanceBias : public Module {
 public:
  GraphDistanceBias(int64_t heads, int64_t most);
  // → (B, H, T, T)
  Tensor operator()(const Edges& edges, int64_t batch, int64_t time) const;

  Tensor weight;  // (most + 2, H), starts at 0: as if there were no graph

 private:
  int64_t most_;
};

}  // namespace heed::inline HEED_REAL
