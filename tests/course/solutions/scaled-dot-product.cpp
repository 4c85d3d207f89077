#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

// y[i, :] = Σⱼ softmaxⱼ(q[i, :] · k[j, :] / √K) v[j, :], over the keys j with keep[i, j] = 1.
// q (Tq, K), k (Tk, K), v (Tk, V), keep (Tq, Tk) → (Tq, V)
Tensor scaled_dot_product(const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
  check(q.dim(1) == k.dim(1) && k.dim(0) == v.dim(0) && keep.shape() == Shape{q.dim(0), k.dim(0)},
        "scaled_dot_product: q {}, k {}, v {} and keep {} do not fit", q.shape(), k.shape(),
        v.shape(), keep.shape());
  Ids hidden = Ids::empty(keep.shape());
  for (int64_t i = 0; i < keep.size(); ++i) hidden.mutable_data()[i] = keep[i] == 0;
  const Tensor scores = matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<real>(q.dim(1)));
  return matmul(softmax(masked_fill(scores, hidden, -std::numeric_limits<real>::infinity())), v);
}

}  // namespace heed::course
