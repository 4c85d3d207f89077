// Losses: each ends in one number.
#include "core/kernels/loss.h"

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v], p = (1 - ε) [v = target] + ε / V
Tensor cross_entropy(const Tensor& logits, const Ids& targets, double label_smoothing) {
  const Shape& shape = logits.shape();
  check(shape.rank() >= 1 && targets.shape() == shape.without(-1),
        "cross_entropy: logits {} need targets of the same shape without the last axis, got {}",
        shape, targets.shape());
  check(label_smoothing >= 0 && label_smoothing <= 1,
        "cross_entropy: a label smoothing of {}, must be in [0, 1]", label_smoothing);
  const kernels::CrossEntropySizes n{targets.size(), shape[-1], label_smoothing, ignored};
  const int32_t* target = targets.data();
  for (int64_t i = 0; i < n.rows; ++i)
    check((target[i] >= 0 && target[i] < n.classes) || target[i] == ignored,
          "cross_entropy: target {} at position {} of {} is neither in [0, {}) nor {} (ignored)",
          target[i], i, targets.shape(), n.classes, ignored);
  Tensor shift = Tensor::empty({n.rows}), share = Tensor::empty({n.rows});
  Tensor loss = Tensor::scalar(static_cast<real>(kernels::cross_entropy_forward(
      n, logits.data(), targets.data(), shift.mutable_data(), share.mutable_data())));
  return record("cross_entropy", loss, {logits},
                [n, targets, xs = saved(logits, logits), shifts = saved(shift, logits),
                 shares = saved(share, logits)](Backward& g) {
                  // dlogits += dy · (softmax(logits) - p), 0 in rows that are ignored
                  kernels::cross_entropy_backward(n, *g.dy(), xs.data(), targets.data(),
                                                  shifts.data(), shares.data(), g.into(0));
                });
}

// Σ (x - y)² / n
Tensor mse_loss(const Tensor& x, const Tensor& y) {
  check(x.shape() == y.shape(), "mse_loss: shapes {} and {} differ", x.shape(), y.shape());
  check(x.size() > 0, "mse_loss: there is no mean of no numbers, in shape {}", x.shape());
  const auto n = static_cast<double>(x.size());
  Tensor loss = Tensor::scalar(
      static_cast<real>(kernels::squared_distance(x.size(), x.data(), y.data()) / n));
  return record("mse_loss", loss, {x, y},
                [n, xs = saved(x, x, y), ys = saved(y, x, y)](Backward& g) {
                  const real factor = static_cast<real>(2 / n) * *g.dy();
                  const auto add = [&](int i, real sign) {
                    kernels::scaled_difference(xs.shape().size(), sign * factor, xs.data(),
                                               ys.data(), g.into(i));
                  };
                  if (g.wants(0)) add(0, 1);   // dx += dy · 2 (x - y) / n
                  if (g.wants(1)) add(1, -1);  // dy -= the same
                });
}

}  // namespace heed::inline HEED_REAL
