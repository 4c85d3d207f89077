// Attention weights without a softmax, along the last axis: the hardmax, and division by the sum.
#include "core/autograd.h"
#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

static kernels::Rows rows_of(const char* operation, const Shape& shape) {
  const int last = axis_of(operation, shape, -1);
  return {shape.span_size(0, last), shape[last]};
}

// y = 1 / (number of maxima) at each maximum of x, else 0
Tensor hardmax(const Tensor& x, HardmaxGradient gradient) {
  const kernels::Rows n = rows_of("hardmax", x.shape());
  Tensor y = Tensor::empty(x.shape());
  kernels::hardmax(n, x.data(), y.mutable_data());
  if (gradient == HardmaxGradient::none)
    return record("hardmax", y, {x}, [](Backward& g) {
      kernels::map(g.size(), g.into(0), [](int64_t) { return real{0}; });  // dx += 0
    });
  return record("hardmax", y, {x}, [n, xs = saved(x, x)](Backward& g) {
    Tensor p = Tensor::empty(xs.shape());
    kernels::softmax_forward(n, xs.data(), p.mutable_data());
    kernels::softmax_backward(n, g.dy(), p.data(), g.into(0));  // dx += p (dy - Σ dy p)
  });
}

// y = x / Σ x
Tensor sum_normalize(const Tensor& x) {
  const kernels::Rows n = rows_of("sum_normalize", x.shape());
  Tensor y = Tensor::empty(x.shape()), sum = Tensor::empty({n.rows});
  kernels::sum_normalize_forward(n, min_row_sum, x.data(), y.mutable_data(), sum.mutable_data());
  return record("sum_normalize", y, {x}, [n, ys = saved(y, x), sums = saved(sum, x)](Backward& g) {
    // dx += (dy - Σ dy y) / Σ x
    kernels::sum_normalize_backward(n, g.dy(), ys.data(), sums.data(), g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
