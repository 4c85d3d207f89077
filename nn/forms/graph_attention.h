// Attention along the edges of a graph (White, "Deep Learning for Molecules and Materials", section
// 12.11, in the notation of Battaglia et al. 2018). For an edge k from sender s to receiver r:
//
//   qₖ = W^Q vᵣ + W^QU u,   kₖ = W^K vₛ + W^KE eₖ,   mₖ = W^V vₛ + W^VE eₖ + W^VU u
//                                         heads side by side
//   bₖ = softmax(s(qₖ, kₖ) / T)           over all edges into r; s is qₖ · kₖ / √K, or another
//                                         similarity (nn/forms/similarity.h)
//   e'ₖ = bₖ mₖ,   ēᵢ = Σ e'ₖ             over all edges into i
//   v'ᵢ = Wᵒ ēᵢ
//   u' = u + W² gelu(W¹ [ē; v̄; u])        ē, v̄: the means over nodes of ēᵢ and of vᵢ + v'ᵢ
//
// u, a vector of the whole graph (12.12), may be missing. All edges into a node have the same u. In
// the keys it would add q · W u to all their scores, which the softmax cancels. In the query it
// decides what a node looks for, and with the values each message carries it. u' is φᵘ(ē', v̄', u)
// of Battaglia et al. 2018, algorithm 1; the book does not say how u changes.
//
// The book's (12.17) to (12.19) sum twice, in b V and again in ρ. Here the sum is taken once, and
// the softmax runs over the edges into one node. Wᵒ combines the heads: it is the weight w_jhl of
// (12.20). On a complete graph with self-loops this is multi-head self-attention.
#pragma once

#include <memory>
#include <string_view>

#include "nn/forms/mixings.h"
#include "nn/forms/similarity.h"

namespace heed::inline HEED_REAL {

class GraphAttention : public Mixing {
 public:
  // The keys of [model.attention] that it honours, besides model.attention_dropout.
  static constexpr const char* honoured_keys[] = {
      "similarity",        "scale",     "scale_value", "sigma", "temperature", "temperature_steps",
      "final_temperature", "activation"};
  static bool honours(std::string_view key);  // the key is one of them
  // `edge_features`: the number of features of an edge, F; 0: none. `global`: the width of u, G; 0:
  // none. Heads have width D / H. Of `form` it uses the dropout and what honoured_keys name.
  GraphAttention(int64_t dim, int64_t heads, int64_t edge_features = 0,
                 const LinearOptions& options = {}, const MultiHeadAttentionOptions& form = {},
                 int64_t global = 0);
  // Nodes x (B, T, D) → (B, T, D); u (B, G) → u' in sequence.global. A node without incoming edges
  // gets the output's bias. Throws Error without edges or u, for an edge that leaves its example,
  // and for any mask but lengths: the edges decide which nodes attend to which.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 private:
  Tensor scores(const Tensor& query, const Tensor& key) const;  // of edges (E, D) → (E, H)
  // u' from u (B, G), ēᵢ and vᵢ + v'ᵢ (B, T, D), whose first lengths[b] nodes are real.
  Tensor updated(const Tensor& u, const Tensor& received, const Tensor& nodes,
                 const Ids& lengths) const;

  MultiHeadAttentionOptions form_;
  int64_t heads_, edge_features_;
  Part<Linear> query_, key_, value_, output_;                    // D → D
  Part<std::unique_ptr<Linear>> edge_key_, edge_value_;          // F → D, or null for F = 0
  Part<std::unique_ptr<Linear>> global_query_, global_value_;    // G → D, or null for G = 0
  Part<std::unique_ptr<Linear>> global_hidden_, global_output_;  // 2D + G → G → G: W¹ and W²
  Part<Similarity> similarity_;
};

}  // namespace heed::inline HEED_REAL
