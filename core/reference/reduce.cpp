// Sums and maxima of x, of shape `shape`, over the axes in which `target` was broadcast to `shape`.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Returns whether `target` has this axis of `shape`: else it is reduced.
bool is_kept(const Shape& shape, const Shape& target, int axis) {
  const int own_axis = axis - (shape.rank() - target.rank());  // shapes are aligned at the last
  return own_axis >= 0 && target[own_axis] == shape[axis];
}

// The offset in an array of `shape` of the index that is number i, in row-major order, of all
// indices along the kept (or else the reduced) axes; the other axes stand at 0.
int64_t offset_of(int64_t i, const Shape& shape, const Shape& target, bool kept) {
  int64_t offset = 0, stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (is_kept(shape, target, axis) == kept) {
      offset += i % shape[axis] * stride;
      i /= shape[axis];
    }
    stride *= shape[axis];
  }
  return offset;
}

// y[kept] = join(join(start, x[kept, 0]), x[kept, 1]) …
template <class Join>
void reduce(const real* x, const Shape& shape, const Shape& target, Destination y, double start,
            Join join) {
  for (int64_t k = 0; k < bound(target.size()); ++k) {
    const int64_t terms = shape.size() / target.size(), first = offset_of(k, shape, target, true);
    double result = start;
    for (int64_t r = 0; r < terms; ++r)
      result = join(result, double{x[first + offset_of(r, shape, target, false)]});
    write(y, k, result);
  }
}

}  // namespace

// y[kept] = Σ x[kept, reduced], over the indices along the reduced axes
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to) {
  reduce(from, shape, target, to, 0, [](double sum, double x) { return sum + x; });
}

// y[kept] = max x[kept, reduced]: NaN if there is one, -inf if there is nothing
void max_to(const real* from, const Shape& shape, const Shape& target, real* to) {
  reduce(from, shape, target, {to, false}, -INFINITY,
         [](double maximum, double x) { return x > maximum || std::isnan(x) ? x : maximum; });
}

}  // namespace heed::inline HEED_REAL::kernels
