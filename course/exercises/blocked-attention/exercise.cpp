// Attention in blocks: write the function below. The task is in
// course/exercises/blocked-attention/task.md; check it with
//
//   ./heed course check blocked-attention
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "course/exercises/blocked-attention/blocks.h"

namespace heed::course {

// Scaled dot-product attention of q (Tq, K) to the keys and values of all blocks → (Tq, V)
Tensor blocked_attention(const Tensor& q, const NextBlock& next) {
  Tensor k, v;
  check(next(k, v) && k.dim(1) == q.dim(1), "blocked_attention: no keys");
  // Write this.
  return Tensor::zeros({q.dim(0), v.dim(1)});
}

}  // namespace heed::course
