// Losses: each ends in one number.
#include "core/kernels/loss.h"

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

kernels::TargetShares shares_of(const LabelSmoothing& smoothing, int64_t classes) {
  const double epsilon = smoothing.epsilon;
  check(epsilon >= 0 && epsilon <= 1, "cross_entropy: a label smoothing of {}, must be in [0, 1]",
        epsilon);
  if (epsilon == 0) return {1, 0, -1};
  if (smoothing.over == Smoothing::vocabulary) {
    const double share = epsilon / static_cast<double>(classes);
    return {1 - epsilon + share, share, -1};
  }
  const bool all = smoothing.over == Smoothing::others;
  check(
      all || (smoothing.impossible >= 0 && smoothing.impossible < classes),
      "cross_entropy: smoothing over possible_others must be told which class of [0, {}) is never "
      "a target, got {}",
      classes, smoothing.impossible);
  const int64_t sharing = classes - (all ? 1 : 2);
  check(sharing >= 1, "cross_entropy: of {} classes none is left to share a label smoothing of {}",
        classes, epsilon);
  return {1 - epsilon, epsilon / static_cast<double>(sharing), all ? -1 : smoothing.impossible};
}

void check_targets(const Ids& targets, int64_t classes, int32_t never) {
  const int32_t* target = targets.data();
  for (int64_t i = 0; i < targets.size(); ++i) {
    check((target[i] >= 0 && target[i] < classes) || target[i] == ignored,
          "cross_entropy: target {} at position {} of {} is neither in [0, {}) nor {} (ignored)",
          target[i], i, targets.shape(), classes, ignored);
    check(
        target[i] != never || target[i] == ignored,
        "cross_entropy: target {} at position {} of {} is the class that is never a target; where "
        "it must not count, make it {} (ignored)",
        target[i], i, targets.shape(), ignored);
  }
}

}  // namespace

// -Σₙ Σᵥ p(n, v) log softmax(logits)[n, v]
Tensor cross_entropy(const Tensor& logits, const Ids& targets, const LabelSmoothing& smoothing) {
  const Shape& shape = logits.shape();
  check(shape.rank() >= 1 && targets.shape() == shape.without(-1),
        "cross_entropy: logits {} need targets of the same shape without the last axis, got {}",
        shape, targets.shape());
  const kernels::CrossEntropySizes n{targets.size(), shape[-1], ignored};
  const kernels::TargetShares p = shares_of(smoothing, n.classes);
  check_targets(targets, n.classes, p.never);
  Tensor shift = Tensor::empty({n.rows}), share = Tensor::empty({n.rows});
  Tensor loss = Tensor::scalar(static_cast<real>(kernels::cross_entropy_forward(
      n, p, logits.data(), targets.data(), shift.mutable_data(), share.mutable_data())));
  return record("cross_entropy", loss, {logits},
                [n, p, targets, xs = saved(logits, logits), shifts = saved(shift, logits),
                 shares = saved(share, logits)](Backward& g) {
                  // dlogits += dy · (softmax(logits) - p), 0 in rows that are ignored
                  kernels::cross_entropy_backward(n, p, *g.dy(), xs.data(), targets.data(),
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
