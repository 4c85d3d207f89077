// Softmax and its logarithm.
#include "core/kernels/softmax.h"

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

static kernels::AlongAxis along(const Shape& shape, int axis) {
  return {shape.span_size(0, axis), shape[axis], shape.span_size(axis + 1, shape.rank())};
}

// y = eˣ / Σ eˣ
Tensor softmax(const Tensor& x, int axis) {
  const kernels::AlongAxis n = along(x.shape(), axis_of("softmax", x.shape(), axis));
  Tensor y = Tensor::empty(x.shape());
  kernels::softmax_forward(n, x.data(), y.mutable_data());
  return record("softmax", y, {x}, [n, ys = saved(y, x)](Backward& g) {
    kernels::softmax_backward(n, g.dy(), ys.data(), g.into(0));  // dx += y · (dy - Σ dy · y)
  });
}

// y = x - log Σ eˣ
Tensor log_softmax(const Tensor& x, int axis) {
  const kernels::AlongAxis n = along(x.shape(), axis_of("log_softmax", x.shape(), axis));
  Tensor y = Tensor::empty(x.shape());
  kernels::log_softmax_forward(n, x.data(), y.mutable_data());
  return record("log_softmax", y, {x}, [n, ys = saved(y, x)](Backward& g) {
    kernels::log_softmax_backward(n, g.dy(), ys.data(), g.into(0));  // dx += dy - eʸ Σ dy
  });
}

}  // namespace heed::inline HEED_REAL
