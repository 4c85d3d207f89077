#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

// y[i, :] = Σⱼ pᵢⱼ v[j, :] over the keys j ≤ i + Tk - Tq, with pᵢ the softmax of q[i, :] · k[j, :]
// / √K over these keys; zeros if there are none.   q (Tq, K), k (Tk, K), v (Tk, V) → (Tq, V)
Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t queries = q.dim(0), keys = k.dim(0);
  Ids later = Ids::full({queries, keys}, 0);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) later.mutable_data()[i * keys + j] = j > i + keys - queries;
  const Tensor scores = matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<real>(q.dim(1)));
  return matmul(softmax(masked_fill(scores, later, -std::numeric_limits<real>::infinity())), v);
}

}  // namespace heed::course
