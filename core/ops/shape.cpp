// The same numbers in another order: permute, transpose and slice copy, whereas Tensor::reshape
// does not.
#include <array>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

using Order = std::array<int, Shape::max_rank>;  // its first `rank` elements are used

// Axis i of y is axis order[i] of x.
static Tensor permuted(const char* name, const Tensor& x, const Order& order) {
  const size_t rank = static_cast<size_t>(x.rank());
  Shape shape = x.shape();
  Order inverse{};
  for (size_t i = 0; i < rank; ++i) {
    shape = shape.with(static_cast<int>(i), x.dim(order[i]));
    inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  Tensor y = Tensor::empty(shape);
  kernels::permute(x.data(), x.shape(), std::span(order).first(rank), {y.mutable_data(), false});
  return record(name, y, {x}, [inverse, rank](Backward& g) {
    // dx += dy, with the axes permuted back
    kernels::permute(g.dy(), g.shape(), std::span(inverse).first(rank), g.into(0));
  });
}

Tensor permute(const Tensor& x, std::span<const int> axes) {
  Order order{}, times_listed{};
  check(static_cast<int>(axes.size()) == x.rank(),
        "permute: expected as many axes as the tensor has, got {} for {}, which has {}",
        axes.size(), x.shape(), x.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    order[i] = axis_of("permute", x.shape(), axes[i]);
    check(times_listed[static_cast<size_t>(order[i])]++ == 0,
          "permute: axis {} of {} is listed twice", axes[i], x.shape());
  }
  return permuted("permute", x, order);
}

Tensor transpose(const Tensor& x, int axis, int other) {
  Order order{0, 1, 2, 3, 4, 5};
  std::swap(order[static_cast<size_t>(axis_of("transpose", x.shape(), axis))],
            order[static_cast<size_t>(axis_of("transpose", x.shape(), other))]);
  return permuted("transpose", x, order);
}

Tensor slice(const Tensor& x, int axis, int64_t first, int64_t last) {
  const int a = axis_of("slice", x.shape(), axis);
  check(0 <= first && first <= last && last <= x.dim(a),
        "slice: [{}, {}) is not within axis {} of {}", first, last, axis, x.shape());
  // Every index of the axes before a has a run of `step` elements, of which `copied` are kept.
  const int64_t before = x.shape().span_size(0, a), width = x.shape().span_size(a + 1, x.rank());
  const int64_t step = x.dim(a) * width, copied = (last - first) * width, skipped = first * width;
  Tensor y = Tensor::empty(x.shape().with(a, last - first));
  kernels::copy_rows(before, copied, x.data() + skipped, step, {y.mutable_data(), false}, copied);
  report(Work::moved, 2 * y.size());  // reads only that part of x
  return record("slice", y, {x}, [before, step, copied, skipped](Backward& g) {
    const Destination dx = g.into(0);
    if (!dx.accumulate) {  // the gradient of elements outside the slice is zero
      kernels::zero_rows(before, skipped, dx.data, step);
      kernels::zero_rows(before, step - skipped - copied, dx.data + skipped + copied, step);
    }
    kernels::copy_rows(before, copied, g.dy(), copied, {dx.data + skipped, dx.accumulate},
                       step);  // dx[first … last) += dy
  });
}

Tensor split_heads(const Tensor& x, int64_t heads) {
  check(x.rank() == 3 && heads >= 1 && x.dim(2) % heads == 0,
        "split_heads: expected (batch, time, {} heads · width), got {}", heads, x.shape());
  return permute(x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) {
  return permute(x, {0, 2, 1, 3}).reshape({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

}  // namespace heed::inline HEED_REAL
