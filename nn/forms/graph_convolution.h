// A convolution on a graph: a node adds up what its neighbours send, with weights that only the
// edges decide (Kipf & Welling 2017, equation 2; White, "Deep Learning for Molecules and
// Materials", section 12.11, compares attention with it). For edges k from sender s to receiver i:
//
//   v'ᵢ = b + Σₖ cₖ (W vₛ + W^E eₖ)
//   cₖ = 1 (sum),  1 / dᵢ (mean),  1 / √(dᵢ dₛ) (symmetric)      d: edges into a node, at least 1
//
// The edges are those of the data, and those from a node to itself, too: Kipf & Welling add them.
#pragma once

#include "nn/forms/mixings.h"

namespace heed::inline HEED_REAL {

class GraphConvolution : public Mixing {
 public:
  // `edge_features`: the number of features of an edge, F; 0: none.
  explicit GraphConvolution(int64_t dim, Aggregate aggregate = {}, int64_t edge_features = 0,
                            const LinearOptions& options = {});
  // Nodes x (B, T, D) → (B, T, D). A node without incoming edges gets b. Throws Error without
  // edges, for an edge that leaves its example, and for any mask but lengths.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 private:
  Aggregate aggregate_;
  int64_t edge_features_;
  Part<Linear> node_;                   // D → D: W
  Part<std::unique_ptr<Linear>> edge_;  // F → D: W^E, or null for F = 0
  Part<Tensor> bias_;                   // (D), zeros at first; or no tensor
};

}  // namespace heed::inline HEED_REAL
