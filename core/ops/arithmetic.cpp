// y = a + b and y = a · b, element by element, with broadcasting. The simplest closures: start
// here. Compiled like the kernels, so that the loops become vector instructions.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::map_broadcast;
using Operand = kernels::Operand<real>;

constexpr auto product = [](real p, real q) { return p * q; };

// f(a, b), with a and b broadcast to one shape
template <class F>
Tensor combined(const char* name, const Tensor& a, const Tensor& b, F f) {
  const Shape shape = broadcast(name, a.shape(), b.shape());
  Tensor y = Tensor::empty(shape);
  map_broadcast(shape, {y.mutable_data(), false}, f, Operand{a.data(), a.shape()},
                Operand{b.data(), b.shape()});
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  const Tensor y = combined("add", a, b, [](real p, real q) { return p + q; });
  return record("add", y, {a, b}, [shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
    if (g.wants(0)) g.pass_broadcast(0, shape_a);  // da += dy
    if (g.wants(1)) g.pass_broadcast(1, shape_b);  // db += dy
  });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const Tensor y = combined("mul", a, b, product);
  return record(
      "mul", y, {a, b},
      [shape_a = a.shape(), shape_b = b.shape(), as = saved(a, b), bs = saved(b, a)](Backward& g) {
        const auto add_product = [&](int i, const Shape& own, const Operand& other) {
          g.into_broadcast(i, own, [&](Destination to) {
            map_broadcast(g.shape(), to, product, Operand{g.dy(), g.shape()}, other);
          });
        };
        if (g.wants(0)) add_product(0, shape_a, {bs.data(), shape_b});  // da += dy · b
        if (g.wants(1)) add_product(1, shape_b, {as.data(), shape_a});  // db += dy · a
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
