#include <cmath>

#include "core/ops.h"

namespace heed::course {

// Splits, attends and merges: zₕ = softmax(Qₕ Kₕᵀ / √K) Vₕ, and [z₁; …; z_H].
// q (B, Tq, H·K), k (B, Tk, H·K), v (B, Tk, H·V), head h in columns [h·K, (h+1)·K) → (B, Tq, H·V)
Tensor attend_with_heads(const Tensor& q, const Tensor& k, const Tensor& v, int64_t heads) {
  check(q.dim(2) == k.dim(2) && k.dim(1) == v.dim(1) && q.dim(2) % heads == 0,
        "attend_with_heads: q {}, k {} and v {} do not fit {} heads", q.shape(), k.shape(),
        v.shape(), heads);
  const auto split = [&](const Tensor& x) {
    return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
  };
  const Tensor qs = split(q), scores = matmul(qs, transpose(split(k), -1, -2));
  const Tensor scaled = scores / std::sqrt(static_cast<real>(qs.dim(3)));
  const Tensor z = matmul(softmax(scaled), split(v));
  return permute(z, {0, 2, 1, 3}).reshape({q.dim(0), q.dim(1), v.dim(2)});
}

}  // namespace heed::course
