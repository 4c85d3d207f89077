// Attention by its definition, softmax(scale · Q Kᵀ) V for each head, where hidden scores are -∞.
// Its gradient needs no code: each step has its own.
#include <cmath>
#include <limits>

#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

Tensor fused::attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads,
                        const AttentionOptions& o) {
  const auto used = [&](const Tensor& x) { return o.keys > 0 ? slice(x, 1, 0, o.keys) : x; };
  const Tensor qh = split_heads(q, heads), kh = split_heads(used(k), heads);
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(qh.dim(-1))));
  const Tensor s = mul(matmul(qh, transpose(kh, -1, -2)), static_cast<real>(scale));
  const Tensor p = softmax(masked_fill(s, o.mask, -std::numeric_limits<real>::infinity()));
  return merge_heads(matmul(dropout(p, o.dropout), split_heads(used(v), heads)));
}

}  // namespace heed::inline HEED_REAL
