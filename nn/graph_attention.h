// Attention along the edges of a graph (White, "Deep Learning for Molecules and Materials", section
// 12.11, in the words of Battaglia et al. 2018). Of an edge k from sender s to receiver r:
//
//   qₖ = W^Q vᵣ,   kₖ = W^K vₛ + W^KE eₖ,   uₖ = W^V vₛ + W^VE eₖ       the heads side by side
//   bₖ = softmax(qₖ · kₖ / √K)            over all edges into r
//   e'ₖ = bₖ uₖ,   ēᵢ = Σ e'ₖ             over all edges into i
//   v'ᵢ = Wᵒ ēᵢ
//
// The book's (12.17) to (12.19) add up twice, once in b V and once more in ρ; here the sum is taken
// once, and the softmax runs over the edges into one node. Wᵒ combines the heads: it is the weight
// w_jhl of (12.20). On a complete graph with an edge from every node to itself this is multi-head
// self-attention.
#pragma once

#include <memory>

#include "nn/linear.h"
#include "nn/sequence_context.h"

namespace heed::inline HEED_REAL {

class GraphAttention : public Mixing {
 public:
  // `edge_features`: numbers known of an edge, F; 0: edges carry none. Heads have width D / H.
  GraphAttention(int64_t dim, int64_t heads, int64_t edge_features,
                 const LinearOptions& options = {});
  // x (B, T, D), its nodes → (B, T, D). A node without edges into it gets the output's bias. Throws
  // Error without edges, for an edge that leads out of its example, and for any mask but lengths:
  // the edges alone say who attends to whom.
  Tensor operator()(const Tensor& x, const SequenceContext& around) const override;

 private:
  int64_t heads_, edge_features_;
  Linear query_, key_, value_, output_;            // D → D
  std::unique_ptr<Linear> edge_key_, edge_value_;  // F → D, where edges carry features
};

}  // namespace heed::inline HEED_REAL
