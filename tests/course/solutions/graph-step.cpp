#include <cmath>

#include "core/ops.h"

namespace heed::course {

// y[i] = Σ bₑ v[sender[e]] over the edges e into node i, where b is the softmax over these edges of
// q[i] · (k[sender[e]] + edge[e]) / √K.
// q (N, K), k (N, K), v (N, V), edge (E, K), sender (E), receiver (E) → (N, V)
Tensor graph_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                  const Ids& sender, const Ids& receiver) {
  const int64_t nodes = q.dim(0), edges = edge.dim(0);
  const Tensor query = embedding(q, receiver), key = embedding(k, sender) + edge;
  const Tensor score = sum(query * key, {1}) / std::sqrt(static_cast<real>(q.dim(1)));
  const Tensor weight = segment_softmax(score, receiver, nodes).reshape({edges, 1});
  return segment_sum(weight * embedding(v, sender), receiver, nodes);
}

}  // namespace heed::course
