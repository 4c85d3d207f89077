// y = a + b and y = a · b, element by element, with broadcasting: the simplest closures.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::empty(broadcast("add", a.shape(), b.shape()));
  kernels::add(y.shape(), {a.data(), a.shape()}, {b.data(), b.shape()}, {y.mutable_data(), false});
  return record("add", y, {a, b}, [shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
    if (g.wants(0)) g.pass_broadcast(0, shape_a);  // da += dy
    if (g.wants(1)) g.pass_broadcast(1, shape_b);  // db += dy
  });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::empty(broadcast("mul", a.shape(), b.shape()));
  kernels::multiply(y.shape(), {a.data(), a.shape()}, {b.data(), b.shape()},
                    {y.mutable_data(), false});
  return record(
      "mul", y, {a, b},
      [shape_a = a.shape(), shape_b = b.shape(), as = saved(a, b), bs = saved(b, a)](Backward& g) {
        if (g.wants(0))  // da += dy · b
          g.into_broadcast(0, shape_a, [&](Destination da) {
            kernels::multiply(g.shape(), {g.dy(), g.shape()}, {bs.data(), shape_b}, da);
          });
        if (g.wants(1))  // db += dy · a
          g.into_broadcast(1, shape_b, [&](Destination db) {
            kernels::multiply(g.shape(), {g.dy(), g.shape()}, {as.data(), shape_a}, db);
          });
      });
}

Tensor mul(const Tensor& a, real b) {
  Tensor y = Tensor::empty(a.shape());
  kernels::scale(a.size(), a.data(), b, {y.mutable_data(), false});
  return record("mul", y, {a}, [b](Backward& g) {
    kernels::scale(g.size(), g.dy(), b, g.into(0));  // da += dy · b
  });
}

}  // namespace heed::inline HEED_REAL
