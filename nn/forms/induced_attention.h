// Attention through a few learned queries, whose cost is linear in the length (Lee et al. 2019,
// "Set Transformer", equation 9: the induced set attention block):
//
//   h = attention(queries, x)       m learned queries read the sequence: (B, m, D)
//   y = attention(x, h)             the sequence reads them: (B, T, D)
//
// The residual, the norm and the feed-forward network are those of the layer (nn/block.h); Lee et
// al. have them around the first attention, too. It takes T m products instead of T². Without
// positions it is permutation equivariant, as self-attention.
#pragma once

#include "nn/learned_queries.h"

namespace heed::inline HEED_REAL {

class InducedAttention : public Mixing {
 public:
  // `options` as for LearnedQueries.
  InducedAttention(int64_t queries, int64_t dim, int64_t heads,
                   const MultiHeadAttentionOptions& options = {});
  // x (B, T, D) → (B, T, D). Padding is not read. Throws Error for any mask but lengths.
  Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;

 private:
  Part<LearnedQueries> induced_;
  Part<std::unique_ptr<MultiHeadAttention>> attention_;
};

}  // namespace heed::inline HEED_REAL
