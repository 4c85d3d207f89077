// Elements chosen by their index along an axis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/autograd.h"
#include "core/kernels/axes.h"
#include "core/kernels/more_kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

// Element i of the result is element elements[i] of x, both in row-major order.
static Tensor elements_of(const char* name, const Tensor& x, const Ids& elements) {
  Tensor y = Tensor::empty(elements.shape());
  kernels::gather_rows(elements.size(), 1, elements.data(), x.data(), {y.mutable_data(), false});
  return record(name, y, {x}, [elements, size = x.size()](Backward& g) {
    // dx[elements[i]] += dy[i]
    kernels::scatter_rows(elements.size(), 1, elements.data(), g.dy(), size, g.into(0));
  });
}

Tensor gather(const Tensor& x, int axis, const Ids& ids) {
  const int along = axis_of("gather", x.shape(), axis);
  const Shape& shape = ids.shape();
  bool fits = shape.rank() == x.rank() && x.size() <= std::numeric_limits<int32_t>::max();
  for (int a = 0; fits && a < x.rank(); ++a) fits = a == along || shape[a] <= x.dim(a);
  check(fits, "gather: ids {} do not fit x {}: only axis {} may be longer", shape, x.shape(), axis);
  Ids elements = Ids::empty(shape);
  // Along `axis` an id replaces the index.
  const int64_t width = x.shape().span_size(along + 1, x.rank());
  kernels::Axes<1> axes;
  for (int a = 0; a < x.rank(); ++a)
    axes.add(shape[a], {a == along ? 0 : x.shape().span_size(a + 1, x.rank())});
  for (int64_t n = 0; n < ids.size() && !scope().shapes_only; ++n) {
    check(ids[n] >= 0 && ids[n] < x.dim(along), "gather: id {} is not in [0, {})", ids[n],
          x.dim(along));
    elements.mutable_data()[n] = static_cast<int32_t>(axes.offsets(n)[0] + ids[n] * width);
  }
  return elements_of("gather", x, elements);
}

TopK topk(const Tensor& x, int64_t k, int axis, bool largest) {
  const int along = axis_of("topk", x.shape(), axis);
  const int64_t length = x.dim(along), width = x.shape().span_size(along + 1, x.rank());
  check(k >= 0 && k <= length && x.size() <= std::numeric_limits<int32_t>::max(),
        "topk: k = {} is not in [0, {}], the length of axis {} of {}", k, length, axis, x.shape());
  Ids ids = Ids::empty(x.shape().with(along, k)), elements = Ids::empty(ids.shape());
  std::vector<int32_t> order(static_cast<size_t>(length));
  const int64_t rows = scope().shapes_only ? 0 : x.shape().span_size(0, along) * width;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t before = row / width, column = row % width;
    const real* values = x.data() + before * length * width + column;
    const auto above = [=](int32_t i, int32_t j) {
      const real a = values[i * width], b = values[j * width];
      if (std::isnan(a) || std::isnan(b)) {
        if (std::isnan(a) != std::isnan(b)) return std::isnan(a) == largest;
      } else if (a != b) {
        return largest ? a > b : a < b;
      }
      return i < j;
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), above);
    for (int64_t n = 0; n < k; ++n) {
      const int64_t to = (before * k + n) * width + column;
      const int32_t id = order[static_cast<size_t>(n)];
      ids.mutable_data()[to] = id;
      elements.mutable_data()[to] = static_cast<int32_t>((before * length + id) * width + column);
    }
  }
  return {elements_of("topk", x, elements), ids};
}

}  // namespace heed::inline HEED_REAL
