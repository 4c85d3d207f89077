// Selection by a condition. Compiled like the kernels.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {
namespace {

using kernels::map_broadcast;
using Operand = kernels::Operand<real>;
using Condition = kernels::Operand<int32_t>;

// y = a where the condition is not 0, else b
Tensor chosen(const char* name, const Ids& condition, const Tensor& a, const Tensor& b,
              const Shape& shape) {
  Tensor y = Tensor::empty(shape);
  map_broadcast(
      shape, {y.mutable_data(), false}, [](int32_t c, real p, real q) { return c != 0 ? p : q; },
      Condition{condition.data(), condition.shape()}, Operand{a.data(), a.shape()},
      Operand{b.data(), b.shape()});
  return record(
      name, y, {a, b},
      [condition = Unchanged(condition), shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
        const auto add_where = [&](int i, const Shape& own, bool is_zero) {
          g.into_broadcast(i, own, [&](Destination to) {
            map_broadcast(
                g.shape(), to, [=](int32_t c, real d) { return (c == 0) == is_zero ? d : real{0}; },
                Condition{condition->data(), condition->shape()}, Operand{g.dy(), g.shape()});
          });
        };
        if (g.wants(0)) add_where(0, shape_a, false);  // da += dy where c ≠ 0
        if (g.wants(1)) add_where(1, shape_b, true);   // db += dy where c = 0
      });
}

}  // namespace

Tensor where(const Ids& condition, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast("where", condition.shape(), broadcast("where", a.shape(), b.shape()));
  return chosen("where", condition, a, b, shape);
}

Tensor masked_fill(const Tensor& x, const Ids& condition, real value) {
  check(broadcast("masked_fill", condition.shape(), x.shape()) == x.shape(),
        "masked_fill: a condition of shape {} does not broadcast to {}", condition.shape(),
        x.shape());
  return chosen("masked_fill", condition, Tensor::scalar(value), x, x.shape());
}

}  // namespace heed::inline HEED_REAL
