#include "course/grader/grader.h"

#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::course {

[[gnu::weak]] Tensor smoothed_cross_entropy(const Tensor& logits, const Ids& targets,
                                            double epsilon);

void grade_label_smoothing(Grader& g, decltype(&smoothed_cross_entropy) answer) {
  const auto check = [&](int64_t rows, int64_t classes, double epsilon, bool one_ignored) {
    const Ids targets = g.ids({rows}, classes);
    if (one_ignored) targets.reshape({rows}).mutable_data()[0] = ignored;
    // -Σ p log softmax(x), with ε / vocab for each class and 1 - ε more for the target
    const auto definition = [=](Arrays x, const Index&) {
      return sum_over(rows, [&](int64_t n) {
        if (targets[n] == ignored) return 0.0;
        const auto logit = [&](int64_t c) { return x[0](Index{{n, c}, 2}); };
        const double log_sum =
            std::log(sum_over(classes, [&](int64_t c) { return std::exp(logit(c)); }));
        return sum_over(classes, [&](int64_t c) {
          const double share = epsilon / static_cast<double>(classes);
          return (share + (c == targets[n] ? 1 - epsilon : 0)) * (log_sum - logit(c));
        });
      });
    };
    g.check({.name = fmt::format("smoothed cross entropy of logits {}, ε = {:.3g}{}",
                                 Shape{rows, classes}, epsilon,
                                 one_ignored ? ", the first target ignored" : ""),
             .inputs = {{rows, classes}},
             .result = {},
             .op = [=](Tensors x) { return answer(x[0], targets, epsilon); },
             .definition = definition,
             .arguments = {"logits"}});
  };
  check(g.size(2, 4), g.size(3, 6), g.number(0.1, 0.3), false);
  check(g.size(3, 5), g.size(3, 5), g.number(0.1, 0.3), true);
  check(2, g.size(2, 4), 0, false);
  if (!g.passed()) return;
  const std::string unstable = "The softmax is 0 in one class, and log 0 is -∞. Use log_softmax.";
  g.expect_near("smoothed cross entropy of logits [1000, 0], target 0, ε = 0.2",
                answer(Tensor::from({1, 2}, {1000.0, 0.0}), Ids::from({1}, {0}), 0.2).item(), 100,
                {{std::numeric_limits<double>::infinity(), unstable},
                 {std::numeric_limits<double>::quiet_NaN(), unstable}});
  const bool calls_it = uses_operation("cross_entropy", [&] {
    answer(Tensor::zeros({1, 2}), Ids::from({1}, {0}), 0.2);
  });
  g.expect(!calls_it, "calls cross_entropy");
}

namespace {
namespace label_smoothing_answers {

// p: the target has target(ε, vocab) in each row that counts, the other classes other(ε, vocab).
template <auto target, auto other, bool skips = true>
Tensor targets_of(const Tensor& logits, const Ids& targets, double epsilon) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const auto v = static_cast<double>(classes);
  Tensor p = Tensor::zeros(logits.shape());
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t c = 0; c < classes; ++c)
      if (!skips || targets[n] != ignored)
        p.mutable_data()[n * classes + c] =
            c == targets[n] ? target(epsilon, v) : other(epsilon, v);
  return p;
}

template <auto target, auto other, bool skips = true>
Tensor smoothed(const Tensor& x, const Ids& t, double e) {
  return -sum(targets_of<target, other, skips>(x, t, e) * log_softmax(x));
}

double right_target(double e, double v) { return 1 - e + e / v; }
double share(double e, double v) { return e / v; }
double rest(double e, double) { return 1 - e; }
double nothing(double, double) { return 0; }
double all(double, double) { return 1; }

const Exercise label_smoothing_exercise(
    "label_smoothing", grade_label_smoothing, {smoothed_cross_entropy},
    {{"", smoothed<right_target, share>},
     {"This is the cross entropy without smoothing.", smoothed<all, nothing>},
     {"The target has 1 - ε and the others ε/vocab: p adds up to 1 - ε/vocab. The target gets its "
      "share of "
      "ε, too.",
      smoothed<rest, share>},
     {"The others have ε/(vocab - 1): this is fairseq's formula. Here all vocab classes share ε.",
      smoothed<rest, [](double e, double v) { return e / (v - 1); }>},
     {"Every class has ε. The classes must share it: ε/vocab each.",
      smoothed<all, [](double e, double) { return e; }>},
     {"The target has 1 and the others ε/vocab: p adds up to more than 1.", smoothed<all, share>},
     {"ε and 1 - ε are exchanged: the target gets ε.",
      [](const Tensor& x, const Ids& t, double e) {
        return smoothed<right_target, share>(x, t, 1 - e);
      }},
     {"Only the target counts: the other classes have ε/vocab each.",
      smoothed<right_target, nothing>},
     {"Only the target counts: the other classes have ε/vocab each.", smoothed<rest, nothing>},
     {"This is the mean over the rows. The loss is their sum.",
      [](const Tensor& x, const Ids& t, double e) {
        double counted = 0;
        for (int64_t n = 0; n < t.size(); ++n) counted += t[n] != ignored;
        return smoothed<right_target, share>(x, t, e) / counted;
      }},
     {"The sign is wrong: a logarithm of a probability is negative, the loss positive.",
      [](const Tensor& x, const Ids& t, double e) {
        return -smoothed<right_target, share>(x, t, e);
      }},
     {"The logarithm is missing: this is minus the sum of p times the softmax.",
      [](const Tensor& x, const Ids& t, double e) {
        return -sum(targets_of<right_target, share>(x, t, e) * softmax(x));
      }},
     {"A row whose target is ignored counts, with ε/vocab for each class. All its p must be 0.",
      smoothed<right_target, share, false>},
     {"That is the library's own function. Compose yours from smaller operations, such as "
      "log_softmax.",
      [](const Tensor& x, const Ids& t, double e) {
        return cross_entropy(x, t, Reduction::sum, e);
      }}});

}  // namespace label_smoothing_answers
}  // namespace
}  // namespace heed::course
