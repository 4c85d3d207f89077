// Scaled dot-product attention with a mask: write the function below. The task is in
// course/exercises/scaled-dot-product/task.md; check it with
//
//   ./heed course check scaled-dot-product
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
  // Write this.
  return Tensor::zeros({q.dim(0), v.dim(1)});
}

}  // namespace heed::course
