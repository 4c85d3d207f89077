// The gradient of a product: write the two loops below. The function replaces the library's. The
// task is in course/exercises/multiply-backward/task.md; check it with
//
//   ./heed course check multiply-backward
#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// Which element of an array of shape `own`, broadcast to shape `whole`, belongs to element i of the
// whole.
static int64_t element(int64_t i, const Shape& whole, const Shape& own) {
  int64_t at = 0, stride = 1;
  for (int axis = 1; axis <= own.rank(); ++axis) {  // from the last to the first
    const int64_t index = i % whole[-axis];
    i /= whole[-axis];
    if (own[-axis] != 1) at += index * stride;
    stride *= own[-axis];
  }
  return at;
}

// y = a · b, element by element, with broadcasting
Tensor mul(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("mul", a.shape(), b.shape()), shape_a = a.shape(),
              shape_b = b.shape();
  Tensor y = Tensor::empty(shape);
  real* const to = y.mutable_data();
  for (int64_t i = 0; i < shape.size(); ++i)
    to[i] = a.data()[element(i, shape, shape_a)] * b.data()[element(i, shape, shape_b)];

  return record("mul", y, {a, b}, [=, as = saved(a, b), bs = saved(b, a)](Backward& g) {
    if (g.wants(0)) {
      const Destination da = g.into(0);
      if (!da.accumulate) std::fill_n(da.data, shape_a.size(), real{0});
      // Write the gradient of a here: da.data[…] += …
    }
    if (g.wants(1)) {
      const Destination db = g.into(1);
      if (!db.accumulate) std::fill_n(db.data, shape_b.size(), real{0});
      // Write the gradient of b here: db.data[…] += …
    }
  });
}

}  // namespace heed::inline HEED_REAL
