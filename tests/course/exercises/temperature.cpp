// What only running shows of answers to the exercise temperature.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise temperature: a softmax that overflows is named") {
  CHECK_SAYS("Not a number", "temperature", [](const Tensor& s, double t) {
    return t == 0 ? hardmax(s) : exp(s / t) / sum(exp(s / t), {-1}, true);
  });
}
