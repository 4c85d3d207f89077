#include "course/grader/grader.h"

#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

[[gnu::weak]] Tensor smoothed_cross_entropy(const Tensor& logits, const Ids& targets,
                                            double epsilon);

void grade_label_smoothing(Grader& g,
                           Tensor (*smoothed_cross_entropy)(const Tensor& logits,
                                                            const Ids& targets, double epsilon)) {
  const auto check = [&](int64_t rows, int64_t classes, double epsilon, bool one_ignored) {
    const Ids targets = g.ids({rows}, classes);
    if (one_ignored) targets.reshape({rows}).mutable_data()[0] = ignored;
    const auto counted = static_cast<double>(rows - (one_ignored ? 1 : 0));
    const auto v = static_cast<double>(classes);
    const auto log_sum = [=](const Array& x, int64_t n) {
      return std::log(sum_over(classes, [&](int64_t c) {
        return std::exp(x.values[static_cast<size_t>(n * classes + c)]);
      }));
    };
    // Σ -p f(log softmax) with p = at_target where the class is the target, else elsewhere
    const auto loss = [=](
                          double at_target, double elsewhere, bool all_rows = false,
                          double (*f)(double) = [](double l) { return l; }) {
      return [=](Arrays x, const Index&) {
        return sum_over(rows, [&](int64_t n) {
          if (targets[n] == ignored && !all_rows) return 0.0;
          return -sum_over(classes, [&](int64_t c) {
            const double element = x[0].values[static_cast<size_t>(n * classes + c)];
            return (c == targets[n] ? at_target : elsewhere) * f(element - log_sum(x[0], n));
          });
        });
      };
    };
    const double part = epsilon / v;
    const auto right = loss(1 - epsilon + part, part);
    std::vector<Mistake> mistakes{
        wrong_value("This is the cross entropy without smoothing.", loss(1, 0)),
        wrong_value("The target has 1 - ε and the others ε/V: p adds up to 1 - ε/V. The target "
                    "gets its share of ε, too.",
                    loss(1 - epsilon, part)),
        wrong_value("The others have ε/(V - 1): this is fairseq's formula. Here ε is shared out "
                    "among all V classes.",
                    loss(1 - epsilon, epsilon / (v - 1))),
        wrong_value("Every class has ε: it is shared out, ε/V each.", loss(1, epsilon)),
        wrong_value("The target has 1 and the others ε/V: p adds up to more than 1.",
                    loss(1, part)),
        wrong_value("ε and 1 - ε are exchanged: the target gets ε.",
                    loss(epsilon + (1 - epsilon) / v, (1 - epsilon) / v)),
        wrong_value("Only the target counts: the other classes have ε/V each.",
                    loss(1 - epsilon + part, 0)),
        wrong_value("Only the target counts: the other classes have ε/V each.",
                    loss(1 - epsilon, 0)),
        wrong_value("This is the mean over the rows. The loss is their sum.",
                    [=](Arrays x, const Index& i) { return right(x, i) / counted; }),
        wrong_value(
            "The sign is wrong: a logarithm of a probability is negative, the loss positive.",
            [=](Arrays x, const Index& i) { return -right(x, i); }),
        wrong_value("The logarithm is missing: this is minus the sum of p times the softmax.",
                    loss(1 - epsilon + part, part, false, [](double l) { return std::exp(l); }))};
    if (one_ignored)
      mistakes.push_back(wrong_value(
          "A row whose target is ignored counts, with ε/V for each class. All its p must be 0.",
          loss(1 - epsilon + part, part, true)));
    g.check({.name = fmt::format("smoothed cross entropy of logits {}, ε = {:.3g}{}",
                                 Shape{rows, classes}, epsilon,
                                 one_ignored ? ", the first target ignored" : ""),
             .inputs = {{rows, classes}},
             .result = {},
             .op = [=](Tensors x) { return smoothed_cross_entropy(x[0], targets, epsilon); },
             .definition = right,
             .arguments = {"logits"}},
            mistakes);
  };
  check(g.size(2, 4), g.size(3, 6), g.number(0.1, 0.3), false);
  check(g.size(3, 5), g.size(3, 5), g.number(0.1, 0.3), true);
  check(2, g.size(2, 4), 0, false);
  if (!g.passed()) return;
  const std::string unstable = "The softmax is 0 in one class, and log 0 is -∞. Use log_softmax.";
  g.expect_near(
      "smoothed cross entropy of logits [1000, 0], target 0, ε = 0.2",
      smoothed_cross_entropy(Tensor::from({1, 2}, {1000.0, 0.0}), Ids::from({1}, {0}), 0.2).item(),
      100,
      {{std::numeric_limits<double>::infinity(), unstable},
       {std::numeric_limits<double>::quiet_NaN(), unstable}});
  const bool calls_it = uses_operation("cross_entropy", [&] {
    smoothed_cross_entropy(Tensor::zeros({1, 2}), Ids::from({1}, {0}), 0.2);
  });
  g.expect(!calls_it, "calls cross_entropy", "cross_entropy is the answer: write it out.");
}
HEED_GRADE(label_smoothing, smoothed_cross_entropy);

}  // namespace heed::course
