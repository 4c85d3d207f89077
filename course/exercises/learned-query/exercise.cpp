// Attention with learned queries: write the function below. The task is in
// course/exercises/learned-query/task.md; check it with
//
//   ./heed course check learned-query
#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

// y[b] = softmax(Q Kᵀ / √K) V, with K = x[b] wkᵀ and V = x[b] wvᵀ of the first lengths[b] rows of a
// bag; zeros for an empty bag.
// x (B, T, D), lengths (B), queries (N, K), wk (K, D), wv (V, D) → (B, N, V)
Tensor learned_query(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                     const Tensor& wv) {
  check(x.rank() == 3 && lengths.shape() == Shape{x.dim(0)} && wk.dim(1) == x.dim(2) &&
            wv.dim(1) == x.dim(2) && queries.dim(1) == wk.dim(0),
        "learned_query: x {}, lengths {}, queries {}, wk {} and wv {} do not fit", x.shape(),
        lengths.shape(), queries.shape(), wk.shape(), wv.shape());
  // Write this.
  return Tensor::zeros({x.dim(0), queries.dim(0), wv.dim(0)});
}

}  // namespace heed::course
