// Loss functions.
#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/kernels/linear_cross_entropy.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {
namespace {

// The distribution p over the classes that a smoothed target stands for.
kernels::TargetDistribution target_distribution(const char* name, const LabelSmoothing& smoothing,
                                                int64_t classes) {
  const double epsilon = smoothing.epsilon;
  check(epsilon >= 0 && epsilon <= 1, "{}: label smoothing must be in [0, 1], got {}", name,
        epsilon);
  if (epsilon == 0) return {1, 0, -1};
  if (smoothing.over == Smoothing::vocabulary) {
    const double other = epsilon / static_cast<double>(classes);
    return {1 - epsilon + other, other, -1};
  }
  const bool all = smoothing.over == Smoothing::others;
  check(all || (smoothing.impossible >= 0 && smoothing.impossible < classes),
        "{}: smoothing over possible_others needs the class of [0, {}) that is never a target, got "
        "{}",
        name, classes, smoothing.impossible);
  const int64_t others = classes - (all ? 1 : 2);
  check(others >= 1, "{}: label smoothing of {} needs more than {} classes", name, epsilon,
        classes);
  return {1 - epsilon, epsilon / static_cast<double>(others), all ? -1 : smoothing.impossible};
}

void check_targets(const char* name, const Ids& targets, int64_t classes, int32_t never) {
  if (scope().shapes_only) return;
  const int32_t* target = targets.data();
  for (int64_t i = 0; i < targets.size(); ++i) {
    check((target[i] >= 0 && target[i] < classes) || target[i] == ignored,
          "{}: target {} at index {} of {} is neither in [0, {}) nor {} (ignored)", name, target[i],
          i, targets.shape(), classes, ignored);
    check(target[i] != never || target[i] == ignored,
          "{}: target {} at index {} of {} is the class that is never a target; use {} (ignored) "
          "for positions that do not count",
          name, target[i], i, targets.shape(), ignored);
  }
}

// Returns the divisor of the sum over all targets: for a mean, how many are not ignored.
real divisor(Reduction reduction, const Ids& targets) {
  if (reduction != Reduction::mean || scope().shapes_only) return 1;
  const int32_t* const target = targets.data();
  const int64_t left_out = std::count(target, target + targets.size(), ignored);
  return static_cast<real>(std::max<int64_t>(1, targets.size() - left_out));
}

}  // namespace

// lossₙ = -Σᵥ p(n, v) log softmax(logits)[n, v]
Tensor cross_entropy(const Tensor& logits, const Ids& targets, Reduction reduction,
                     const LabelSmoothing& smoothing) {
  const Shape& shape = logits.shape();
  check(shape.rank() >= 1 && targets.shape() == shape.without(-1),
        "cross_entropy: logits {} need targets of the same shape without the last axis, got {}",
        shape, targets.shape());
  const kernels::CrossEntropySizes n{targets.size(), shape[-1], ignored};
  const kernels::TargetDistribution p = target_distribution("cross_entropy", smoothing, n.classes);
  check_targets("cross_entropy", targets, n.classes, p.never);
  Tensor gradient = wants_gradient(logits) ? Tensor::empty(shape) : Tensor();
  Tensor losses = reduction == Reduction::none ? Tensor::empty(targets.shape()) : Tensor();
  const double sum = kernels::cross_entropy(n, p, logits.data(), targets.data(),
                                            gradient ? gradient.mutable_data() : nullptr,
                                            losses ? losses.mutable_data() : nullptr);
  if (losses)
    return record("cross_entropy", losses, {logits}, [n, gradient](Backward& g) {
      // dlogitsₙ += dyₙ · (softmax(logits)ₙ - pₙ), and 0 in ignored rows
      kernels::scale_rows({n.rows, n.classes}, g.dy(), gradient.data(), g.into(0));
    });
  const real count = divisor(reduction, targets);
  const Tensor loss = Tensor::scalar(static_cast<real>(sum / count));
  return record("cross_entropy", loss, {logits}, [count, gradient](Backward& g) {
    // dlogits += dy / count · (softmax(logits) - p), and 0 in ignored rows
    kernels::scale(gradient.size(), gradient.data(), *g.dy() / count, g.into(0));
  });
}

// cross_entropy(linear(x, w, b), targets), fused: see kernels/linear_cross_entropy.h
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction, const LabelSmoothing& smoothing, int64_t at_once) {
  check(w.rank() == 2 && x.rank() >= 1 && x.dim(-1) == w.dim(1) &&
            (!b || b.shape() == Shape{w.dim(0)}),
        "linear_cross_entropy: x {}, w {} and b {} must be (…, I), (V, I) and (V)", x.shape(),
        w.shape(), b ? b.shape() : Shape{});
  check(targets.shape() == x.shape().without(-1),
        "linear_cross_entropy: x {} needs targets of the same shape without the last axis, got {}",
        x.shape(), targets.shape());
  const int64_t rows = targets.size(), classes = w.dim(0);
  const kernels::LinearCrossEntropy n{
      .rows = rows,
      .inputs = w.dim(1),
      .classes = classes,
      .ignored = ignored,
      .p = target_distribution("linear_cross_entropy", smoothing, classes),
      .chunk_rows = kernels::chunk_rows_for(rows, classes, at_once)};
  check_targets("linear_cross_entropy", targets, classes, n.p.never);
  Tensor dlogits = Tensor::empty({n.chunk_rows, classes});  // of the last chunk
  Tensor losses = reduction == Reduction::none ? Tensor::empty(targets.shape()) : Tensor();
  const double sum = kernels::linear_cross_entropy_forward(
      n, {x.data(), w.data(), b ? b.data() : nullptr, targets.data()}, dlogits.mutable_data(),
      losses ? losses.mutable_data() : nullptr);
  const bool each = static_cast<bool>(losses);
  const real count = divisor(reduction, targets);
  const Tensor loss = each ? std::move(losses) : Tensor::scalar(static_cast<real>(sum / count));
  // With several chunks backward computes logits again, from x, w and b.
  const bool again = n.chunk_rows < rows;
  return record(
      "linear_cross_entropy", loss, {x, w, b},
      [n, targets, each, count, dlogits, xs = again ? saved(x, x, w, b) : saved(x, w),
       ws = again ? saved(w, x, w, b) : saved(w, x),
       bs = again && b ? saved(b, x, w, b) : Saved()](Backward& g) mutable {
        const Destination dw = g.into_or_null(1),  // dw += dlogitsᵀ · x
            db = g.into_or_null(2),                // db += Σₙ dlogits
            dx = g.into_or_null(0);                // dx += dlogits · w
        const kernels::LossGradient dy =           // dlogits = dy · (softmax - p)
            each ? kernels::LossGradient{0, g.dy()} : kernels::LossGradient{*g.dy() / count};
        kernels::linear_cross_entropy_backward(n, {xs.data(), ws.data(), bs.data(), targets.data()},
                                               dy, dlogits.mutable_data(), {dx, dw, db});
      });
}

}  // namespace heed::inline HEED_REAL
