// The exercise cross-entropy: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_cross_entropy(Grader& g, Tensor (*cross_entropy)(const Tensor& logits,
                                                            const Ids& targets, Reduction reduction,
                                                            const LabelSmoothing& smoothing));

namespace {

namespace cross_entropy_stub {
using namespace heed;
#include "course/exercises/cross-entropy/exercise.cpp"
}  // namespace cross_entropy_stub

enum class EntropyFault {
  none,
  mean,
  sign,
  no_log,
  log_sum_only,
  no_log_of_sum,
  base_2,
  largest,
  softmax_only,
  target_only,
  no_dy,
  divided,
  counts_ignored,
  gradient_of_ignored,
  unstable,
  log_of_softmax
};

// The solution, with a fault.
template <EntropyFault fault>
Tensor faulty_cross_entropy(const Tensor& logits, const Ids& targets, Reduction,
                            const LabelSmoothing&) {
  using enum EntropyFault;
  const int64_t classes = logits.dim(-1), rows = targets.size();
  Tensor gradient = Tensor::zeros(logits.shape());
  real loss = 0, counted = 0;
  for (int64_t n = 0; n < rows; ++n) {
    const bool counts = targets[n] != ignored;
    if (!counts && fault != counts_ignored && fault != gradient_of_ignored) continue;
    counted += 1;
    const real* const x = logits.data() + n * classes;
    real* const dx = gradient.mutable_data() + n * classes;
    const real largest_logit = *std::max_element(x, x + classes);
    const real m = fault == unstable ? 0 : largest_logit;
    real z = 0;
    for (int64_t v = 0; v < classes; ++v) z += std::exp(x[v] - m);
    const real log_sum = m + std::log(z), target = x[targets[n]];
    if (counts || fault == counts_ignored)
      loss += fault == no_log           ? -std::exp(target - m) / z
              : fault == log_sum_only   ? log_sum
              : fault == no_log_of_sum  ? z * std::exp(m) - target
              : fault == largest        ? m - target
              : fault == log_of_softmax ? -std::log(std::exp(target - m) / z)
                                        : log_sum - target;
    for (int64_t v = 0; v < classes; ++v)
      dx[v] = (fault == target_only ? 0 : std::exp(x[v] - m) / z) -
              (v == targets[n] && fault != softmax_only ? 1 : 0);
  }
  if (fault == mean) loss /= counted;
  if (fault == sign) loss = -loss;
  if (fault == base_2) loss /= std::log(real{2});
  return record("cross_entropy", Tensor::scalar(loss), {logits}, [=](Backward& g) {
    const Destination to = g.into(0);
    for (int64_t i = 0; i < gradient.size(); ++i) {
      const real value =
          gradient.data()[i] * (fault == no_dy ? 1 : *g.dy()) / (fault == divided ? counted : 1);
      to.data[i] = to.accumulate ? to.data[i] + value : value;
    }
  });
}

TEST_CASE("exercise cross-entropy: the solution and the library pass") {
  CHECK(graded(grade_cross_entropy, faulty_cross_entropy<EntropyFault::none>) == "");
  CHECK(graded(grade_cross_entropy, heed::cross_entropy) == "");
}

TEST_CASE("exercise cross-entropy: the stub and mistakes are named") {
  using enum EntropyFault;
  CHECK_NAMED("nothing is computed yet", grade_cross_entropy,
              cross_entropy_stub::heed::cross_entropy);
  CHECK_NAMED("the mean over the targets that count", grade_cross_entropy,
              faulty_cross_entropy<mean>);
  CHECK_NAMED("The sign is wrong", grade_cross_entropy, faulty_cross_entropy<sign>);
  CHECK_NAMED("minus the sum of the probabilities", grade_cross_entropy,
              faulty_cross_entropy<no_log>);
  CHECK_NAMED("This is log Σ exp(x) only", grade_cross_entropy, faulty_cross_entropy<log_sum_only>);
  CHECK_NAMED("Σ exp(x) minus the target's logit", grade_cross_entropy,
              faulty_cross_entropy<no_log_of_sum>);
  CHECK_NAMED("base 2", grade_cross_entropy, faulty_cross_entropy<base_2>);
  CHECK_NAMED("log Σ exp(x - m) is missing", grade_cross_entropy, faulty_cross_entropy<largest>);
  CHECK_NAMED("the target's 1 is not subtracted", grade_cross_entropy,
              faulty_cross_entropy<softmax_only>);
  CHECK_NAMED("the softmax is missing", grade_cross_entropy, faulty_cross_entropy<target_only>);
  CHECK_NAMED("The factor dy is missing", grade_cross_entropy, faulty_cross_entropy<no_dy>);
  CHECK_NAMED("as if the loss were a mean", grade_cross_entropy, faulty_cross_entropy<divided>);
  CHECK_NAMED("A row whose target is ignored counts", grade_cross_entropy,
              faulty_cross_entropy<counts_ignored>);
  CHECK_NAMED("has the gradient of a softmax", grade_cross_entropy,
              faulty_cross_entropy<gradient_of_ignored>);
  CHECK_NAMED("exp overflows", grade_cross_entropy, faulty_cross_entropy<unstable>);
  CHECK_NAMED("never take the logarithm of a probability", grade_cross_entropy,
              faulty_cross_entropy<log_of_softmax>);
}

}  // namespace
}  // namespace heed::course
