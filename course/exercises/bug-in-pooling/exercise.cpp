// Find the bug: an example and its neighbours. The task is in
// course/exercises/bug-in-pooling/task.md; check it with
//
//   ./heed course check bug-in-pooling
#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

// The number of the line with the mistake.
int wrong_line() { return 0; }

// Example b has length[b] ≥ 1 positions; those behind them are padding, with any values.
// y[b] = head · Σₜ p[b, t] x[b, t] over t < length[b], where p[b] is the softmax of
// query · x[b, t] / √D over the same positions.   x (B, T, D), query (D), head (C, D) → (B, C)
Tensor pooled_logits(const Tensor& x, const Ids& length, const Tensor& query, const Tensor& head) {
  const int64_t batch = x.dim(0), time = x.dim(1), width = x.dim(2);
  const real scale = 1 / std::sqrt(static_cast<real>(width));                             // 1
  const Tensor scores = scale * matmul(x, query.reshape({width, 1}));                     // 2
  Ids padding = Ids::full({batch, time}, 0);                                              // 3
  for (int64_t b = 0; b < batch; ++b)                                                     // 4
    for (int64_t t = 0; t < time; ++t)                                                    // 5
      padding.mutable_data()[b * time + t] = t > length[b];                               // 6
  const real hidden = -std::numeric_limits<real>::infinity();                             // 7
  const Tensor p = softmax(masked_fill(scores.reshape({batch, time}), padding, hidden));  // 8
  const Tensor pooled = matmul(p.reshape({batch, 1, time}), x);                           // 9
  return linear(pooled.reshape({batch, width}), head);                                    // 10
}

}  // namespace heed::course
