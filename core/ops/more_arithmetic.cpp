// y = a - b, y = a / b and y = a + number, element by element, with broadcasting. Compiled like the
// kernels.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::map_broadcast;
using Operand = kernels::Operand<real>;

constexpr auto quotient = [](real p, real q) { return p / q; };

// f(a, b), with a and b broadcast to one shape
template <class F>
Tensor paired(const char* name, const Tensor& a, const Tensor& b, F f) {
  const Shape shape = broadcast(name, a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  map_broadcast(shape, {y.mutable_data(), false}, f, Operand{a.data(), a.shape()},
                Operand{b.data(), b.shape()});
  return y;
}

}  // namespace

Tensor sub(const Tensor& a, const Tensor& b) {
  const Tensor y = paired("sub", a, b, [](real p, real q) { return p - q; });
  return record("sub", y, {a, b}, [shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
    if (g.wants(0)) g.pass_broadcast(0, shape_a);  // da += dy
    if (g.wants(1))                                // db -= dy
      g.into_broadcast(1, shape_b,
                       [&](Destination to) { kernels::scale(g.size(), g.dy(), -1, to); });
  });
}

Tensor div(const Tensor& a, const Tensor& b) {
  const Tensor y = paired("div", a, b, quotient);
  return record("div", y, {a, b},
                [shape_a = a.shape(), shape_b = b.shape(), ys = saved(y, b),
                 bs = saved(b, a, b)](Backward& g) {
                  const Operand dy{g.dy(), g.shape()}, divisor{bs.data(), shape_b};
                  if (g.wants(0))  // da += dy / b
                    g.into_broadcast(0, shape_a, [&](Destination to) {
                      map_broadcast(g.shape(), to, quotient, dy, divisor);
                    });
                  if (g.wants(1))  // db -= dy · y / b
                    g.into_broadcast(1, shape_b, [&](Destination to) {
                      map_broadcast(
                          g.shape(), to, [](real d, real q, real r) { return -d * q / r; }, dy,
                          Operand{ys.data(), g.shape()}, divisor);
                    });
                });
}

Tensor add(const Tensor& a, real b) {
  Tensor y = Tensor::empty(a.shape());
  kernels::map(a.size(), {y.mutable_data(), false},
               [b, x = a.data()](int64_t i) { return x[i] + b; });
  return record("add", y, {a}, [](Backward& g) { g.pass(0); });  // da += dy
}

}  // namespace heed::inline HEED_REAL
