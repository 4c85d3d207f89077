// Attention by its definition: softmax(scale · Q Kᵀ) V for each head. Its gradient needs no code:
// each step has its own.
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

Tensor fused::attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                        const AttentionOptions& options) {
  const Tensor p = attention_weights(q, k, heads, options);  // (B, H, Tq, Tk)
  const Tensor values = options.keys > 0 ? slice(v, 1, 0, options.keys) : v;
  return merge_heads(matmul(dropout(p, options.dropout), split_heads(values, heads)));
}

}  // namespace heed::inline HEED_REAL
