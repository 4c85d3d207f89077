// Arithmetic, element by element, with broadcasting.
#include "core/kernels/arithmetic.h"

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

using kernels::RealOperand;

Tensor add(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("add", a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  kernels::add(shape, {a.data(), a.shape()}, {b.data(), b.shape()}, {y.mutable_data(), false});
  return record("add", y, {a, b}, [shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
    if (g.wants(0)) g.pass_broadcast(0, shape_a);  // da += dy
    if (g.wants(1)) g.pass_broadcast(1, shape_b);  // db += dy
  });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("sub", a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  kernels::sub(shape, {a.data(), a.shape()}, {b.data(), b.shape()}, {y.mutable_data(), false});
  return record("sub", y, {a, b}, [shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
    if (g.wants(0)) g.pass_broadcast(0, shape_a);  // da += dy
    if (g.wants(1))                                // db -= dy
      g.into_broadcast(1, shape_b,
                       [&](Destination to) { kernels::scale(g.size(), g.dy(), -1, to); });
  });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("mul", a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  kernels::mul(shape, {a.data(), a.shape()}, {b.data(), b.shape()}, {y.mutable_data(), false});
  return record(
      "mul", y, {a, b},
      [shape_a = a.shape(), shape_b = b.shape(), as = saved(a, b), bs = saved(b, a)](Backward& g) {
        const RealOperand dy{g.dy(), g.shape()};
        if (g.wants(0))  // da += dy · b
          g.into_broadcast(0, shape_a, [&](Destination to) {
            kernels::mul(g.shape(), dy, {bs.data(), shape_b}, to);
          });
        if (g.wants(1))  // db += dy · a
          g.into_broadcast(1, shape_b, [&](Destination to) {
            kernels::mul(g.shape(), dy, {as.data(), shape_a}, to);
          });
      });
}

Tensor div(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast("div", a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  kernels::div(shape, {a.data(), a.shape()}, {b.data(), b.shape()}, {y.mutable_data(), false});
  return record("div", y, {a, b},
                [shape_a = a.shape(), shape_b = b.shape(), ys = saved(y, b),
                 bs = saved(b, a, b)](Backward& g) {
                  const RealOperand divisor{bs.data(), shape_b};
                  if (g.wants(0))  // da += dy / b
                    g.into_broadcast(0, shape_a, [&](Destination to) {
                      kernels::div(g.shape(), {g.dy(), g.shape()}, divisor, to);
                    });
                  if (g.wants(1))  // db -= dy · y / b
                    g.into_broadcast(1, shape_b, [&](Destination to) {
                      kernels::div_backward_divisor(g.shape(), g.dy(), ys.data(), divisor, to);
                    });
                });
}

Tensor add(const Tensor& a, real b) {
  Tensor y = Tensor::empty(a.shape());
  kernels::add(a.size(), a.data(), b, {y.mutable_data(), false});
  return record("add", y, {a}, [](Backward& g) { g.pass(0); });  // da += dy
}

Tensor mul(const Tensor& a, real b) {
  Tensor y = Tensor::empty(a.shape());
  kernels::scale(a.size(), a.data(), b, {y.mutable_data(), false});
  return record("mul", y, {a}, [b](Backward& g) {
    kernels::scale(g.size(), g.dy(), b, g.into(0));  // da += dy · b
  });
}

}  // namespace heed::inline HEED_REAL
