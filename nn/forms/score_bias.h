// What is added to the scores of attention for the positions of query and key in the sequence,
// before they become weights (distances on a graph: nn/forms/graph.h).
//
//   s'(h, i, j) = s(h, i, j) + bias(h, i, j)
//
// A KeepMask hides a key or does not. A bias is a real value, and a learned one has a gradient.
#pragma once

#include <vector>

#include "core/ids.h"
#include "core/lazy.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

class ScoreBias : public Module {
 public:
  // → (H, Tq, Tk), the same for every example. Queries and keys are aligned at their ends, as under
  // a KeepMask: query i has the position of key i + Tk - Tq.
  virtual Tensor operator()(int64_t queries, int64_t keys) const = 0;
};

// -mₕ |i - j|: attention with linear biases (Press et al. 2022, section 3). With their causal mask
// |i - j| is i - j; without one, a later key is penalised as an earlier one. No parameters.
class AlibiBias : public ScoreBias {
 public:
  explicit AlibiBias(int64_t heads);
  Tensor operator()(int64_t queries, int64_t keys) const override;

 private:
  std::vector<double> slopes_;
  Lazy<Tensor> table_;  // for the sizes of the last call
};

// The slopes m₁ … m_H: 2^(-8h/H) for H a power of two. Otherwise those of the next lower power of
// two, followed by the odd ones of its double, as in the authors' code.
std::vector<double> alibi_slopes(int64_t heads);

// A learned bias for each head and bucket of distances (Raffel et al. 2020, section 2.1).
class RelativeBias : public ScoreBias {
 public:
  // Weights start as N(0, std²). Throws Error unless buckets leaves at least one distance a bucket
  // of its own, and max_distance exceeds these distances.
  RelativeBias(int64_t heads, int64_t buckets, int64_t max_distance, bool bidirectional,
               double std = 0.02);
  Tensor operator()(int64_t queries, int64_t keys) const override;

  Part<Tensor> weight;  // (buckets, H)

 private:
  int64_t max_distance_;
  bool bidirectional_;
  Lazy<Ids> buckets_;  // (Tq, Tk) for the sizes of the last call
};

// The bucket of a key `offset` positions after its query (before it, if negative). With N buckets
// for a direction, the first E = N/2 hold one distance each. The others divide the distances from E
// to max_distance into intervals of equal logarithm, and the last one holds all larger distances:
//   E + ⌊(N - E) log(distance / E) / log(max_distance / E)⌋, at most N - 1
// If bidirectional, N = buckets / 2, and later keys use the second half. Otherwise N = buckets, and
// later keys, which a causal mask hides, count as distance 0.
int64_t relative_bucket(int64_t offset, int64_t buckets, int64_t max_distance, bool bidirectional);

}  // namespace heed::inline HEED_REAL
