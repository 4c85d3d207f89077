// Attention weights without a softmax: the hardmax, and division by the sum.
#include "core/kernels/normalise.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/map.h"
#include "core/kernels/softmax.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

struct Rows {
  int64_t count, width;

  Rows(const char* operation, const Shape& shape) : count(0), width(0) {
    check(shape.rank() >= 1, "{}: expected at least one axis, got shape {}", operation, shape);
    count = shape.span_size(0, shape.rank() - 1);
    width = shape[-1];
  }
};

}  // namespace

// y = 1 / (number of maxima) at each maximum of x, else 0
Tensor hardmax(const Tensor& x, HardmaxGradient gradient) {
  const Rows n("hardmax", x.shape());
  Tensor y = Tensor::empty(x.shape());
  kernels::hardmax(n.count, n.width, x.data(), y.mutable_data());
  if (gradient == HardmaxGradient::none)
    return record("hardmax", y, {x}, [](Backward& g) {
      kernels::map(g.size(), g.into(0), [](int64_t) { return real{0}; });  // dx += 0
    });
  return record("hardmax", y, {x}, [n, xs = saved(x, x)](Backward& g) {
    const kernels::AlongAxis rows{n.count, n.width, 1};
    Tensor p = Tensor::empty(xs.shape());
    kernels::softmax_forward(rows, xs.data(), p.mutable_data());
    kernels::softmax_backward(rows, g.dy(), p.data(), g.into(0));  // dx += p (dy - Σ dy p)
  });
}

// y = x / Σ x
Tensor sum_normalize(const Tensor& x) {
  constexpr real least = 1e-6;
  const Rows n("sum_normalize", x.shape());
  Tensor y = Tensor::empty(x.shape()), sum = Tensor::empty({n.count});
  kernels::sum_normalize_forward(n.count, n.width, least, x.data(), y.mutable_data(),
                                 sum.mutable_data());
  if (int64_t* const counter = scope().rows_without_sum; counter && !scope().shapes_only)
    *counter += std::count(sum.data(), sum.data() + n.count, real{0});
  return record("sum_normalize", y, {x}, [n, ys = saved(y, x), sums = saved(sum, x)](Backward& g) {
    // dx += (dy - Σ dy y) / Σ x
    kernels::sum_normalize_backward(n.count, n.width, g.dy(), ys.data(), sums.data(), g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
