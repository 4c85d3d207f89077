// Tensors one after the other along an axis: concat, stack, and the inverse of concat, split.
#include <limits>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

// The result has shape `shape`; part i has lengths[i] along the axis.
static Tensor join_tensors(const char* name, std::span<const Tensor> parts, const Shape& shape,
                           int axis, const Ids& lengths) {
  Tensor y = Tensor::empty(shape);
  // Every index of the axes before `axis` has a run of each part.
  const int64_t before = shape.span_size(0, axis), width = shape.span_size(axis + 1, shape.rank()),
                step = shape[axis] * width;
  real* to = y.mutable_data();
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t run = lengths.data()[i] * width;
    kernels::copy_rows(before, run, parts[i].data(), run, {to, false}, step);
    to += run;
  }
  return record(name, y, parts, [before, width, step, lengths](Backward& g) {
    const real* dy = g.dy();
    for (int i = 0; i < lengths.size(); ++i) {
      const int64_t run = lengths[i] * width;
      if (g.wants(i))  // d part += its slice of dy
        kernels::copy_rows(before, run, dy, step, g.into(i), run);
      dy += run;
    }
  });
}

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
    parts.push_back(slice(x, a, first, first + size));
    first += size;
  }
  return parts;
}

}  // namespace heed::inline HEED_REAL
