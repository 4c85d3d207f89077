// What only running shows of answers to the exercise top-p.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

TEST_CASE("exercise top-p: a softmax that overflows is named") {
  CHECK_SAYS("Not a number", "top_p", [](const Tensor& logits, double p) {
    const Tensor e = exp(logits), total = sum(e, {1}, true);
    using Nucleus = Tensor (*)(const Tensor&, double);
    return course::solution_of<Nucleus>("top_p")(log(e / total), p);
  });
}
