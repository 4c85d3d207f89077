#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

// y[b] = softmax(Q Kᵀ / √K) V, with K = x[b] wkᵀ and V = x[b] wvᵀ of the first lengths[b] rows of a
// bag; zeros for an empty bag.
// x (B, T, D), lengths (B), queries (N, K), wk (K, D), wv (V, D) → (B, N, V)
Tensor learned_query(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                     const Tensor& wv) {
  Ids hidden = Ids::empty({x.dim(0), 1, x.dim(1)});
  for (int64_t i = 0; i < hidden.size(); ++i)
    hidden.mutable_data()[i] = i % x.dim(1) >= lengths[i / x.dim(1)];
  const Tensor k = linear(x, wk), v = linear(x, wv);
  const Tensor scores =
      matmul(queries, transpose(k, 1, 2)) / std::sqrt(static_cast<real>(k.dim(2)));
  return matmul(softmax(masked_fill(scores, hidden, -std::numeric_limits<real>::infinity())), v);
}

}  // namespace heed::course
