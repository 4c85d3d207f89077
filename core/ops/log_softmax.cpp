// The logarithm of softmax: y = x - log Σ eˣ
#include "core/autograd.h"
#include "core/kernels/more_kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

static Tensor log_softmax_last(const Tensor& x) {
  const kernels::Rows sizes{x.shape().span_size(0, x.rank() - 1), x.dim(-1)};
  Tensor y = Tensor::empty(x.shape());
  kernels::log_softmax_forward(sizes, x.data(), y.mutable_data());
  return record("log_softmax", y, {x}, [sizes, ys = saved(y, x)](Backward& g) {
    kernels::log_softmax_backward(sizes, g.dy(), ys.data(), g.into(0));  // dx += dy - eʸ Σ dy
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  if (axis_of("log_softmax", x.shape(), axis) == x.rank() - 1) return log_softmax_last(x);
  return transpose(log_softmax_last(transpose(x, axis, -1)), axis, -1);
}

}  // namespace heed::inline HEED_REAL
