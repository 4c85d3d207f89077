// What only running shows of answers to the exercise cross-entropy.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

// log Σ exp(x) without a maximum, or the logarithm of a softmax
template <bool of_softmax>
Tensor unstable(const Tensor& logits, const Ids& targets, Reduction, const LabelSmoothing&) {
  Tensor ones = Tensor::zeros(logits.shape());
  for (int64_t n = 0; n < targets.size(); ++n)
    if (targets[n] != ignored) ones.mutable_data()[n * logits.dim(-1) + targets[n]] = 1;
  if (of_softmax) return -sum(ones * log(softmax(logits)));
  const Tensor total = sum(exp(logits), {-1}, true);
  return sum(ones * (log(total) - logits));
}

}  // namespace

TEST_CASE("exercise cross-entropy: the library passes, and what overflows is named") {
  CHECK(course::verdict("cross_entropy", cross_entropy) == "");
  CHECK_SAYS("exp overflows", "cross_entropy", unstable<false>);
  CHECK_SAYS("never take the logarithm of a probability", "cross_entropy", unstable<true>);
}
