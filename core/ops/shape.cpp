// Permutation, slicing and concatenation. These copy, whereas Tensor::reshape does not.
#include <algorithm>
#include <array>
#include <limits>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

using Order = std::array<int, Shape::max_rank>;

Tensor permuted(const char* name, const Tensor& x, const Order& order) {
  const int rank = x.rank();
  const auto used = [rank](const Order& o) {
    return std::span(o).first(static_cast<size_t>(rank));
  };
  Shape shape = x.shape();
  Order inverse{};
  for (int i = 0; i < rank; ++i) {
    shape = shape.with(i, x.dim(order[static_cast<size_t>(i)]));
    inverse[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
  }
  Tensor y = Tensor::empty(shape);
  kernels::permute(x.data(), x.shape(), used(order), {y.mutable_data(), false});
  return record(name, y, {x}, [inverse, used](Backward& g) {
    kernels::permute(g.dy(), g.shape(), used(inverse),
                     g.into(0));  // dx += dy, with the axes permuted back
  });
}

// The layout around an axis: every index of the axes before it has `length` runs of `width`
// elements.
struct Runs {
  int64_t before, length, width;
  Runs(const Shape& shape, int axis)
      : before(shape.span_size(0, axis)),
        length(shape[axis]),
        width(shape.span_size(axis + 1, shape.rank())) {}
  int64_t step() const { return length * width; }
};

Tensor sliced(const char* name, const Tensor& x, int axis, int64_t first, int64_t last) {
  const Runs all(x.shape(), axis);
  const int64_t copied = (last - first) * all.width, skipped = first * all.width;
  Tensor y = Tensor::empty(x.shape().with(axis, last - first));
  kernels::copy_rows(all.before, copied, x.data() + skipped, all.step(), {y.mutable_data(), false},
                     copied);
  report_moved(2 * y.size());  // reads only that part of x
  return record(name, y, {x}, [all, copied, skipped](Backward& g) {
    const Destination dx = g.into(0);
    if (!dx.accumulate) {  // the gradient of elements outside the slice is zero
      kernels::zero_rows(all.before, skipped, dx.data, all.step());
      kernels::zero_rows(all.before, all.step() - skipped - copied, dx.data + skipped + copied,
                         all.step());
    }
    kernels::copy_rows(all.before, copied, g.dy(), copied, {dx.data + skipped, dx.accumulate},
                       all.step());  // dx[first … last) += dy
  });
}

}  // namespace

Tensor permute(const Tensor& x, Axes axes) {
  Order order{}, times_listed{};
  check(static_cast<int>(axes.size()) == x.rank(),
        "permute: expected as many axes as the tensor has, got {} for {}, which has {}",
        axes.size(), x.shape(), x.rank());
  size_t i = 0;
  for (const int axis : axes) {
    order[i] = axis_of("permute", x.shape(), axis);
    check(times_listed[static_cast<size_t>(order[i])]++ == 0,
          "permute: axis {} of {} is listed twice", axis, x.shape());
    ++i;
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
  return sliced("slice", x, a, first, last);
}

std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int axis) {
  const int a = axis_of("split", x.shape(), axis);
  int64_t total = 0;
  for (const int64_t size : sizes) {
    check(size >= 0, "split: a length of {} along axis {} of {} is negative", size, axis,
          x.shape());
    total += size;
  }
  check(total == x.dim(a), "split: the lengths add up to {}, but axis {} of {} has length {}",
        total, axis, x.shape(), x.dim(a));
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    parts.push_back(sliced("split", x, a, first, first + size));
    first += size;
  }
  return parts;
}

namespace {

// The result has shape `shape`; part i has lengths[i] along the axis.
Tensor join_tensors(const char* name, std::span<const Tensor> parts, const Shape& shape, int axis,
                    const Ids& lengths) {
  Tensor y = Tensor::empty(shape);
  const Runs all(shape, axis);
  real* to = y.mutable_data();
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t run = lengths.data()[i] * all.width;
    kernels::copy_rows(all.before, run, parts[i].data(), run, {to, false}, all.step());
    to += run;
  }
  return record(name, y, parts, [all, lengths](Backward& g) {
    const real* dy = g.dy();
    for (int i = 0; i < lengths.size(); ++i) {
      const int64_t run = lengths[i] * all.width;
      if (g.wants(i))  // d part += its slice of dy
        kernels::copy_rows(all.before, run, dy, all.step(), g.into(i), run);
      dy += run;
    }
  });
}

}  // namespace

Tensor concat(std::span<const Tensor> parts, int axis) {
  check(!parts.empty(), "concat: expected at least one tensor");
  const Shape& first = parts[0].shape();
  const int a = axis_of("concat", first, axis);
  Ids lengths = Ids::empty({static_cast<int64_t>(parts.size())});
  int64_t total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape& shape = parts[i].shape();
    check(shape.rank() == first.rank() && shape.with(a, 0) == first.with(a, 0),
          "concat: {} and {} differ in more than axis {}", first, shape, axis);
    total += shape[a];
    check(total <= std::numeric_limits<int32_t>::max(), "concat: the length of axis {} would be {}",
          axis, total);
    lengths.mutable_data()[i] = static_cast<int32_t>(shape[a]);
  }
  return join_tensors("concat", parts, first.with(a, total), a, lengths);
}

Tensor stack(std::span<const Tensor> parts, int axis) {
  check(!parts.empty(), "stack: expected at least one tensor");
  const Shape& first = parts[0].shape();
  check(first.rank() < Shape::max_rank && axis >= -first.rank() - 1 && axis <= first.rank(),
        "stack: cannot insert axis {} into shape {}", axis, first);
  const int a = axis < 0 ? axis + first.rank() + 1 : axis;
  const auto count = static_cast<int64_t>(parts.size());
  for (const Tensor& part : parts)
    check(part.shape() == first, "stack: shapes {} and {} differ", first, part.shape());
  return join_tensors("stack", parts, first.inserted(a, count), a, Ids::full({count}, 1));
}

}  // namespace heed::inline HEED_REAL
