// Defines standard_ops.h's losses of logits and of a linear layer, then what both need.
#include "core/ops/loss.h"

#include <algorithm>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/ops/fused.h"

namespace heed::inline HEED_REAL {

using detail::divisor;
using detail::target_distribution;

static void check_targets(const char* name, const Ids& targets, int64_t classes, int32_t never) {
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

// lossₙ = -Σᵥ p(n, v) log softmax(logits)[n, v]. One pass computes the loss and the gradient of the
// logits, from the same exponentials; backward only multiplies it by dy.
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

// cross_entropy(linear(x, w, b), targets); x (…, I), w (vocab, I), b (vocab), targets (…)
Tensor linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b, const Ids& targets,
                            Reduction reduction, const LabelSmoothing& smoothing, int64_t at_once) {
  check(w.rank() == 2 && x.rank() >= 1 && x.dim(-1) == w.dim(1) &&
            (!b || b.shape() == Shape{w.dim(0)}),
        "linear_cross_entropy: x {}, w {} and b {} must be (…, I), (vocab, I) and (vocab)",
        x.shape(), w.shape(), b ? b.shape() : Shape{});
  check(targets.shape() == x.shape().without(-1),
        "linear_cross_entropy: x {} needs targets of the same shape without the last axis, got {}",
        x.shape(), targets.shape());
  const int64_t classes = w.dim(0);
  check_targets("linear_cross_entropy", targets, classes,
                target_distribution("linear_cross_entropy", smoothing, classes).never);
  return fused::linear_cross_entropy(x, w, b, targets, reduction, smoothing, at_once);
}

// ---- what both losses need

kernels::TargetDistribution detail::target_distribution(const char* name,
                                                        const LabelSmoothing& smoothing,
                                                        int64_t classes) {
  const double epsilon = smoothing.epsilon;
  check(epsilon >= 0 && epsilon <= 1, "{}: label smoothing must be in [0, 1], got {}", name,
        epsilon);
  if (epsilon == 0) return {.target = 1, .other = 0, .never = -1};
  const bool all = smoothing.over == Smoothing::vocabulary;
  const int32_t never = smoothing.over == Smoothing::possible_others ? smoothing.impossible : -1;
  check(smoothing.over != Smoothing::possible_others || (never >= 0 && never < classes),
        "{}: smoothing over possible_others needs the class of [0, {}) that is never a target, got "
        "{}",
        name, classes, never);
  const int64_t others = classes - !all - (never >= 0);
  check(others >= 1, "{}: label smoothing of {} needs more than {} classes", name, epsilon,
        classes);
  const double other = epsilon / static_cast<double>(others);
  return {1 - epsilon + (all ? other : 0), other, never};
}

real detail::divisor(Reduction reduction, const Ids& targets) {
  if (reduction != Reduction::mean || scope().shapes_only) return 1;
  const int32_t* const target = targets.data();
  const int64_t left_out = std::count(target, target + targets.size(), ignored);
  return static_cast<real>(std::max<int64_t>(1, targets.size() - left_out));
}

}  // namespace heed::inline HEED_REAL
