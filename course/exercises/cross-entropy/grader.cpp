#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_cross_entropy(Grader& g, decltype(&cross_entropy) answer) {
  const auto check = [&](const Shape& shape, bool one_ignored) {
    const int64_t classes = shape[-1];
    const Ids targets = g.ids(shape.without(-1), classes);
    const int64_t rows = targets.size();
    if (one_ignored) targets.reshape({rows}).mutable_data()[rows - 1] = ignored;
    const auto definition = [=](Arrays x, const Index&) {
      const auto at = [&](int64_t n, int64_t v) {
        return x[0].values[static_cast<size_t>(n * classes + v)];
      };
      return sum_over(rows, [&](int64_t n) {
        if (targets[n] == ignored) return 0.0;
        const double total = sum_over(classes, [&](int64_t v) { return std::exp(at(n, v)); });
        return std::log(total) - at(n, targets[n]);
      });
    };
    g.check({.name = fmt::format("cross entropy of logits {}{}", shape,
                                 one_ignored ? ", the last target ignored" : ""),
             .inputs = {shape},
             .result = {},
             .op = [=](Tensors x) { return answer(x[0], targets, Reduction::sum, {}); },
             .definition = definition,
             .arguments = {"logits"}});
  };
  check({g.size(2, 4), g.size(3, 6)}, false);
  check({g.size(3, 5), g.size(2, 4)}, true);
  check({g.size(2, 3), g.size(2, 3), g.size(2, 4)}, true);
  check({g.size(2, 5)}, false);
  check({1, 1}, false);
  if (!g.passed()) return;

  const double large = g.number(800, 1000);
  const std::string unstable =
      "exp overflows above 709, and is 0 below -745. Subtract the largest logit first, and never "
      "take "
      "the logarithm of a probability: log Σ exp(x) = m + log Σ exp(x - m).";
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double first : {large, -large}) {
    Tensor logits = Tensor::from({1, 2}, {first, 0});
    logits.set_requires_grad();
    const Tensor loss = answer(logits, Ids::from({1}, {first > 0 ? 1 : 0}), Reduction::sum, {});
    g.expect_near(
        fmt::format("cross entropy of logits [{:.1f}, 0], target {}", first, first > 0 ? 1 : 0),
        loss.item(), large,
        {{std::numeric_limits<double>::quiet_NaN(), unstable}, {infinity, unstable}});
    if (!g.passed()) return;
    backward(loss);
    g.expect_near(fmt::format("gradient of logits [{:.1f}, 0], element 0", first),
                  logits.grad().data()[0], first > 0 ? 1 : -1,
                  {{std::numeric_limits<double>::quiet_NaN(), unstable}});
  }
  g.expect_near(
      "cross entropy of logits [0, -inf, 0], target 0",
      answer(Tensor::from({1, 3}, {0.0, -infinity, 0.0}), Ids::from({1}, {0}), Reduction::sum, {})
          .item(),
      std::log(2.0));
}
namespace {
namespace cross_entropy_answers {

// Losses of rows of logits. An ignored row counts only if `all` do.
struct Rows {
  Tensor logits, x;  // as they came, and (N, vocab)
  Ids targets;

  Rows(const Tensor& of, const Ids& ids)
      : logits(of), x(of.reshape({ids.size(), of.dim(-1)})), targets(ids) {}
  double counted() const {
    double count = 0;
    for (int64_t n = 0; n < targets.size(); ++n) count += targets[n] != ignored;
    return count;
  }
  // Σ of one number per row
  Tensor total(const Tensor& of_rows, bool all = false) const {
    Tensor counts = Tensor::zeros({targets.size()});
    for (int64_t n = 0; n < targets.size(); ++n)
      counts.mutable_data()[n] = all || targets[n] != ignored;
    return sum(of_rows * counts);
  }
  // (N, vocab): 1 at each target. That of an ignored row is -1, the element before the row.
  Tensor ones(bool all = false) const {
    Tensor result = Tensor::zeros(x.shape());
    for (int64_t n = 0; n < targets.size(); ++n)
      if (all || targets[n] != ignored) result.mutable_data()[n * x.dim(1) + targets[n]] += 1;
    return result;
  }
  Tensor of_targets(const Tensor& of, bool all = false) const { return sum(of * ones(all)); }
  Tensor log_sums(bool all = false) const { return total(logsumexp(x, {1}), all); }
  Tensor loss(bool all = false) const { return log_sums(all) - of_targets(x, all); }
  Tensor softmax() const { return exp(x - logsumexp(x, {1}, true)); }
};

template <auto loss>
Tensor entropy(const Tensor& logits, const Ids& targets, Reduction, const LabelSmoothing&) {
  return loss(Rows(logits, targets));
}

Tensor without_dy(const Rows& r) {
  const Tensor gradient = (r.softmax() - r.ones()).detach();
  return record("cross_entropy", r.loss().detach(), {r.logits}, [=](Backward& g) {
    const Destination to = g.into(0);
    for (int64_t i = 0; i < gradient.size(); ++i)
      to.data[i] = gradient.data()[i] + (to.accumulate ? to.data[i] : 0);
  });
}

const Exercise cross_entropy_exercise(
    "cross_entropy", grade_cross_entropy, {cross_entropy},
    {{"This is the mean over the targets that count. The loss is their sum.",
      entropy<[](const Rows& r) { return r.loss() / r.counted(); }>},
     {"The sign is wrong: a logarithm of a probability is negative, the loss positive.",
      entropy<[](const Rows& r) { return -r.loss(); }>},
     {"The logarithm is missing: this is minus the sum of the probabilities.",
      entropy<[](const Rows& r) { return -r.of_targets(r.softmax()); }>},
     {"This is log Σ exp(x) only: the target's logit is not subtracted.",
      entropy<[](const Rows& r) { return r.log_sums(); }>},
     {"The logarithm is missing: this is Σ exp(x) minus the target's logit.",
      entropy<[](const Rows& r) { return r.total(sum(exp(r.x), {1})) - r.of_targets(r.x); }>},
     {"These are logarithms to base 2. The loss uses the natural logarithm.",
      entropy<[](const Rows& r) { return r.loss() / std::log(2.0); }>},
     {"This is the largest logit minus the target's: log Σ exp(x - m) is missing.",
      entropy<[](const Rows& r) { return r.total(max(r.x, {1})) - r.of_targets(r.x); }>},
     {"This is the softmax: the target's 1 is not subtracted.",
      entropy<[](const Rows& r) { return r.log_sums() - r.of_targets(r.x).detach(); }>},
     {"This is -1 at the target: the softmax is missing.",
      entropy<[](const Rows& r) { return r.log_sums().detach() - r.of_targets(r.x); }>},
     {"The factor dy is missing: the loss may be multiplied by something later.",
      entropy<without_dy>},
     {"This is divided by the number of targets, as if the loss were a mean.",
      entropy<[](const Rows& r) {
        return with_gradient(r.loss(), Tensor::scalar(1 / r.counted()));
      }>},
     {"A row whose target is ignored counts: x[-1] is the element before the row.",
      entropy<[](const Rows& r) { return r.loss(true); }>},
     {"A row whose target is ignored has the gradient of a softmax. It must be 0.",
      entropy<[](const Rows& r) {
        const Tensor ignored_rows = r.log_sums(true) - r.log_sums();
        return r.loss() + (ignored_rows - ignored_rows.detach());
      }>}});
HEED_TRAIN(cross_entropy, positional_encodings::relative);

}  // namespace cross_entropy_answers
}  // namespace
}  // namespace heed::course
