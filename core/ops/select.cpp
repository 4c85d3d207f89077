// Selection by a condition.
#include "core/kernels/select.h"

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

// y = a where the condition is not 0, else b
Tensor chosen(const char* name, const Ids& condition, const Tensor& a, const Tensor& b,
              const Shape& shape) {
  Tensor y = Tensor::empty(shape);
  kernels::choose(shape, {condition.data(), condition.shape()}, {a.data(), a.shape()},
                  {b.data(), b.shape()}, y.mutable_data());
  return record(name, y, {a, b},
                [condition, shape_a = a.shape(), shape_b = b.shape()](Backward& g) {
                  const kernels::Condition c{condition.data(), condition.shape()};
                  if (g.wants(0))  // da += dy where c ≠ 0
                    g.into_broadcast(0, shape_a, [&](Destination to) {
                      kernels::keep_where(g.shape(), c, false, g.dy(), to);
                    });
                  if (g.wants(1))  // db += dy where c = 0
                    g.into_broadcast(1, shape_b, [&](Destination to) {
                      kernels::keep_where(g.shape(), c, true, g.dy(), to);
                    });
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

// y = value where the mask hides a key, else x
Tensor masked_fill(const Tensor& scores, const KeepMask& mask, real value) {
  const Shape& shape = scores.shape();
  check(shape.rank() == 4, "masked_fill: scores must be (batch, heads, queries, keys), got {}",
        shape);
  mask.check_fits("masked_fill", shape[0], shape[1], shape[2], shape[3]);
  if (mask.hides_nothing()) return scores;
  Tensor y = Tensor::empty(shape);
  kernels::fill_hidden(shape, mask, scores.data(), value, {y.mutable_data(), false});
  // The value is an input too, so that detect_anomaly accepts an infinite one.
  return record("masked_fill", y, {scores, Tensor::scalar(value)}, [mask](Backward& g) {
    kernels::fill_hidden(g.shape(), mask, g.dy(), 0, g.into(0));  // dx += dy where it is kept
  });
}

}  // namespace heed::inline HEED_REAL
