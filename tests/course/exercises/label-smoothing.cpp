// The exercise label-smoothing: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_label_smoothing(Grader& g,
                           Tensor (*smoothed_cross_entropy)(const Tensor& logits,
                                                            const Ids& targets, double epsilon));

namespace {

namespace label_smoothing_stub {
using namespace heed;
#include "course/exercises/label-smoothing/exercise.cpp"
}  // namespace label_smoothing_stub

// p with at_target(ε, V) for the target and elsewhere(ε, V) for the other classes.
template <auto at_target, auto elsewhere, bool skip = true>
Tensor smoothed_targets(const Tensor& logits, const Ids& targets, double epsilon) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  Tensor p = Tensor::zeros(logits.shape());
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t v = 0; v < classes; ++v)
      if (!skip || targets[n] != ignored)
        p.mutable_data()[n * classes + v] = v == targets[n]
                                                ? at_target(epsilon, static_cast<double>(classes))
                                                : elsewhere(epsilon, static_cast<double>(classes));
  return p;
}

constexpr auto target_share = [](double e, double v) { return 1 - e + e / v; };
constexpr auto other_share = [](double e, double v) { return e / v; };
constexpr auto no_share = [](double, double) { return 0.0; };
constexpr auto rest_share = [](double e, double) { return 1 - e; };
constexpr auto whole_share = [](double, double) { return 1.0; };

template <auto at_target, auto elsewhere, bool skip = true>
Tensor smoothed_loss(const Tensor& x, const Ids& t, double e) {
  return neg(sum(smoothed_targets<at_target, elsewhere, skip>(x, t, e) * log_softmax(x)));
}

constexpr auto right_targets = smoothed_targets<target_share, other_share>;
constexpr auto right_loss = smoothed_loss<target_share, other_share>;

TEST_CASE("exercise label-smoothing: the solution passes") {
  CHECK(graded(grade_label_smoothing, right_loss) == "");
}

TEST_CASE("exercise label-smoothing: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_label_smoothing,
              label_smoothing_stub::heed::course::smoothed_cross_entropy);
  CHECK_NAMED("write it out", grade_label_smoothing, [](const Tensor& x, const Ids& t, double e) {
    return cross_entropy(x, t, Reduction::sum, e);
  });
  CHECK_NAMED("without smoothing", grade_label_smoothing, smoothed_loss<whole_share, no_share>);
  CHECK_NAMED("p adds up to 1 - ε/V", grade_label_smoothing,
              smoothed_loss<rest_share, other_share>);
  CHECK_NAMED("this is fairseq's formula", grade_label_smoothing,
              smoothed_loss<rest_share, [](double e, double v) { return e / (v - 1); }>);
  CHECK_NAMED("Every class has ε", grade_label_smoothing,
              smoothed_loss<whole_share, [](double e, double) { return e; }>);
  CHECK_NAMED("p adds up to more than 1", grade_label_smoothing,
              smoothed_loss<whole_share, other_share>);
  CHECK_NAMED("are exchanged", grade_label_smoothing,
              [](const Tensor& x, const Ids& t, double e) { return right_loss(x, t, 1 - e); });
  CHECK_NAMED("Only the target counts", grade_label_smoothing,
              smoothed_loss<target_share, no_share>);
  CHECK_NAMED("Only the target counts", grade_label_smoothing, smoothed_loss<rest_share, no_share>);
  CHECK_NAMED("This is the mean over the rows", grade_label_smoothing,
              [](const Tensor& x, const Ids& t, double e) {
                int64_t counted = 0;
                for (int64_t n = 0; n < t.size(); ++n) counted += t[n] != ignored;
                return right_loss(x, t, e) / static_cast<double>(counted);
              });
  CHECK_NAMED("The sign is wrong", grade_label_smoothing,
              [](const Tensor& x, const Ids& t, double e) { return neg(right_loss(x, t, e)); });
  CHECK_NAMED("The logarithm is missing", grade_label_smoothing,
              [](const Tensor& x, const Ids& t, double e) {
                return neg(sum(right_targets(x, t, e) * softmax(x)));
              });
  CHECK_NAMED("A row whose target is ignored counts", grade_label_smoothing,
              smoothed_loss<target_share, other_share, false>);
  CHECK_NAMED("log 0 is -∞", grade_label_smoothing, [](const Tensor& x, const Ids& t, double e) {
    return neg(sum(right_targets(x, t, e) * log(softmax(x))));
  });
}

}  // namespace
}  // namespace heed::course
