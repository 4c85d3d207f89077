// A step of attention on a graph: write the function below. The task is in
// course/exercises/graph-step/task.md; check it with
//
//   ./heed course check graph-step
#include <cmath>

#include "core/ops.h"

namespace heed::course {

// y[i] = Σ bₑ v[sender[e]] over the edges e into node i, where b is the softmax over these edges of
// q[i] · (k[sender[e]] + edge[e]) / √K.
// q (N, K), k (N, K), v (N, V), edge (E, K), sender (E), receiver (E) → (N, V)
Tensor graph_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                  const Ids& sender, const Ids& receiver) {
  check(q.shape() == k.shape() && v.dim(0) == q.dim(0) && edge.dim(1) == q.dim(1) &&
            sender.shape() == Shape{edge.dim(0)} && receiver.shape() == sender.shape(),
        "graph_step: q {}, k {}, v {}, edge {}, sender {} and receiver {} do not fit", q.shape(),
        k.shape(), v.shape(), edge.shape(), sender.shape(), receiver.shape());
  // Write this.
  return Tensor::zeros({q.dim(0), v.dim(1)});
}

}  // namespace heed::course
