#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "course/exercises/blocked-attention/blocks.h"

namespace heed::course {

// Scaled dot-product attention of q (Tq, K) to the keys and values of all blocks → (Tq, V)
Tensor blocked_attention(const Tensor& q, const NextBlock& next) {
  const int64_t queries = q.dim(0);
  const real root = std::sqrt(static_cast<real>(q.dim(1)));
  Tensor maximum = Tensor::full({queries, 1}, -std::numeric_limits<real>::infinity());
  Tensor sum_so_far = Tensor::zeros({queries, 1}), output;
  for (Tensor k, v; next(k, v);) {
    const Tensor scores = matmul(q, transpose(k, 0, 1)) / root;
    const Tensor larger = max(concat({scores, maximum}, 1), {1}, true);
    const Tensor correction = exp(maximum - larger), e = exp(scores - larger);
    sum_so_far = sum_so_far * correction + sum(e, {1}, true);
    output = output ? output * correction + matmul(e, v) : matmul(e, v);
    maximum = larger;
  }
  return output / sum_so_far;
}

}  // namespace heed::course
