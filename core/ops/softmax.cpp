// Scores to weights: softmax makes them positive, with a sum of 1.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

// y = eˣ / Σ eˣ along the last axis
static Tensor softmax_last(const Tensor& x) {
  const kernels::Rows sizes{x.shape().span_size(0, x.rank() - 1), x.dim(-1)};
  Tensor y = Tensor::empty(x.shape());
  kernels::softmax_forward(sizes, x.data(), y.mutable_data());
  return record("softmax", y, {x}, [sizes, ys = saved(y, x)](Backward& g) {
    kernels::softmax_backward(sizes, g.dy(), ys.data(), g.into(0));  // dx += y · (dy - Σ dy · y)
  });
}

Tensor softmax(const Tensor& x, int axis) {
  if (axis_of("softmax", x.shape(), axis) == x.rank() - 1) return softmax_last(x);
  return transpose(softmax_last(transpose(x, axis, -1)), axis, -1);
}

}  // namespace heed::inline HEED_REAL
