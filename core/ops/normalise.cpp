// Rows of weights that are not a softmax: the hardmax, and division by the sum.
#include "core/kernels/normalise.h"

#include "core/autograd.h"
#include "core/kernels/softmax.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

thread_local int64_t zero_rows = 0;

struct Rows {
  int64_t count, width;

  Rows(const char* operation, const Shape& shape) : count(0), width(0) {
    check(shape.rank() >= 1, "{}: a row needs an axis, got shape {}", operation, shape);
    count = shape.span_size(0, shape.rank() - 1);
    width = shape[-1];
  }
};

}  // namespace

// y = 1 / ties at the greatest x, else 0
Tensor hardmax(const Tensor& x, HardmaxGradient gradient) {
  const Rows n("hardmax", x.shape());
  Tensor y = Tensor::empty(x.shape());
  kernels::hardmax(n.count, n.width, x.data(), y.mutable_data());
  if (gradient == HardmaxGradient::none) return y;
  const kernels::AlongAxis rows{n.count, n.width, 1};
  Tensor soft = Tensor::empty(x.shape());
  kernels::softmax_forward(rows, x.data(), soft.mutable_data());
  return record("hardmax", y, {x}, [rows, softs = saved(soft, x)](Backward& g) {
    kernels::softmax_backward(rows, g.dy(), softs.data(), g.into(0));  // dx += p (dy - Σ dy p)
  });
}

// y = x / Σ x
Tensor sum_normalize(const Tensor& x) {
  constexpr real least = 1e-6;
  const Rows n("sum_normalize", x.shape());
  Tensor y = Tensor::empty(x.shape()), inverse = Tensor::empty({n.count});
  zero_rows += kernels::sum_normalize_forward(n.count, n.width, least, x.data(), y.mutable_data(),
                                              inverse.mutable_data());
  return record("sum_normalize", y, {x},
                [n, ys = saved(y, x), inverses = saved(inverse, x)](Backward& g) {
                  // dx += (dy - Σ dy y) / Σ x
                  kernels::sum_normalize_backward(n.count, n.width, g.dy(), ys.data(),
                                                  inverses.data(), g.into(0));
                });
}

int64_t rows_without_sum() { return zero_rows; }

}  // namespace heed::inline HEED_REAL
