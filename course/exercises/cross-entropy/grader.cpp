#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autograd.h"
#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {

void grade_cross_entropy(Grader& g, Tensor (*cross_entropy)(const Tensor& logits,
                                                            const Ids& targets, Reduction reduction,
                                                            const LabelSmoothing& smoothing)) {
  const auto check = [&](const Shape& shape, bool one_ignored) {
    const int64_t classes = shape[-1];
    const Ids targets = g.ids(shape.without(-1), classes);
    const int64_t rows = targets.size();
    if (one_ignored) targets.reshape({rows}).mutable_data()[rows - 1] = ignored;
    const auto counted = static_cast<double>(rows - (one_ignored ? 1 : 0));
    // Element v of row n: also v = -1, the element before the row.
    const auto at = [=](const Array& x, int64_t n, int64_t v) {
      return x.values[static_cast<size_t>(n * classes + v)];
    };
    const auto exponentials = [=](const Array& x, int64_t n) {
      return sum_over(classes, [&](int64_t v) { return std::exp(at(x, n, v)); });
    };
    const auto target = [=](int64_t n) { return static_cast<int64_t>(targets[n]); };
    // Σ term(x, n) over the rows, or over those that count
    const auto total = [=](auto term, bool all = false) {
      return [=](Arrays x, const Index&) {
        return sum_over(
            rows, [&](int64_t n) { return all || target(n) != ignored ? term(x[0], n) : 0.0; });
      };
    };
    const auto loss = [=](const Array& x, int64_t n) {
      return std::log(exponentials(x, n)) - at(x, n, target(n));
    };
    // dy · term(x, n, v) for element v of row n, or 0 if the row does not count
    const auto gradient = [=](auto term, bool all = false) {
      return [=](Arrays x, const Array& dy, const Index& i) {
        int64_t flat = 0;
        for (int axis = 0; axis < shape.rank(); ++axis) flat = flat * shape[axis] + i[axis];
        const int64_t n = flat / classes, v = flat % classes;
        return all || target(n) != ignored ? dy.values[0] * term(x[0], n, v) : 0.0;
      };
    };
    const auto softmax = [=](const Array& x, int64_t n, int64_t v) {
      return std::exp(at(x, n, v)) / exponentials(x, n);
    };
    const auto right = [=](const Array& x, int64_t n, int64_t v) {
      return softmax(x, n, v) - (v == target(n) ? 1 : 0);
    };

    std::vector<Mistake> mistakes{
        wrong_value("This is the mean over the targets that count. The loss is their sum.",
                    [=](Arrays x, const Index& i) { return total(loss)(x, i) / counted; }),
        wrong_value(
            "The sign is wrong: a logarithm of a probability is negative, the loss positive.",
            [=](Arrays x, const Index& i) { return -total(loss)(x, i); }),
        wrong_value("The logarithm is missing: this is minus the sum of the probabilities.",
                    total([=](const Array& x, int64_t n) { return -softmax(x, n, target(n)); })),
        wrong_value("This is log Σ exp(x) only: the target's logit is not subtracted.",
                    total([=](const Array& x, int64_t n) { return std::log(exponentials(x, n)); })),
        wrong_value("The logarithm is missing: this is Σ exp(x) minus the target's logit.",
                    total([=](const Array& x, int64_t n) {
                      return exponentials(x, n) - at(x, n, target(n));
                    })),
        wrong_value("These are logarithms to base 2. The loss uses the natural logarithm.",
                    [=](Arrays x, const Index& i) { return total(loss)(x, i) / std::log(2.0); }),
        wrong_value("This is the largest logit minus the target's: log Σ exp(x - m) is missing.",
                    total([=](const Array& x, int64_t n) {
                      double largest = at(x, n, 0);
                      for (int64_t v = 1; v < classes; ++v)
                        largest = std::max(largest, at(x, n, v));
                      return largest - at(x, n, target(n));
                    })),
        wrong_gradient("logits", "This is the softmax: the target's 1 is not subtracted.",
                       gradient(softmax)),
        wrong_gradient("logits", "This is -1 at the target: the softmax is missing.",
                       gradient([=](const Array&, int64_t n, int64_t v) {
                         return v == target(n) ? -1.0 : 0.0;
                       })),
        wrong_gradient("logits",
                       "The factor dy is missing: the loss may be multiplied by something later.",
                       [=](Arrays x, const Array&, const Index& i) {
                         return gradient(right)(x, Array{{}, {1}}, i);
                       }),
        wrong_gradient("logits",
                       "This is divided by the number of targets, as if the loss were a mean.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return gradient(right)(x, dy, i) / counted;
                       })};
    if (one_ignored && rows > 1) {
      mistakes.push_back(
          wrong_value("A row whose target is ignored counts: x[-1] is the element before the row.",
                      total(loss, true)));
      mistakes.push_back(wrong_gradient(
          "logits", "A row whose target is ignored has the gradient of a softmax. It must be 0.",
          gradient(right, true)));
    }
    g.check({.name = fmt::format("cross entropy of logits {}{}", shape,
                                 one_ignored ? ", the last target ignored" : ""),
             .inputs = {shape},
             .result = {},
             .op = [=](Tensors x) { return cross_entropy(x[0], targets, Reduction::sum, {}); },
             .definition = total(loss),
             .arguments = {"logits"}},
            mistakes);
  };
  check({g.size(2, 4), g.size(3, 6)}, false);
  check({g.size(3, 5), g.size(2, 4)}, true);
  check({g.size(2, 3), g.size(2, 3), g.size(2, 4)}, true);
  check({g.size(2, 5)}, false);
  check({1, 1}, false);

  const double large = g.number(800, 1000);
  const std::string unstable =
      "exp overflows above 709, and is 0 below -745. Subtract the largest logit first, and never "
      "take "
      "the logarithm of a probability: log Σ exp(x) = m + log Σ exp(x - m).";
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double first : {large, -large}) {
    Tensor logits = Tensor::from({1, 2}, {first, 0});
    logits.set_requires_grad();
    const Tensor loss =
        cross_entropy(logits, Ids::from({1}, {first > 0 ? 1 : 0}), Reduction::sum, {});
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
  g.expect_near("cross entropy of logits [0, -inf, 0], target 0",
                cross_entropy(Tensor::from({1, 3}, {0.0, -infinity, 0.0}), Ids::from({1}, {0}),
                              Reduction::sum, {})
                    .item(),
                std::log(2.0));
}
HEED_GRADE(cross_entropy, cross_entropy);
HEED_TRAIN(cross_entropy, positional_encodings::relative);

}  // namespace heed::course
