// What only running shows of answers to the exercise layer-norm.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise layer-norm: the library passes, and a variance in one pass does not") {
  CHECK(course::verdict("layer_norm", layer_norm) == "");
  CHECK_SAYS("in a second pass", "layer_norm",
             [](const Tensor& x, const Tensor& weight, const Tensor& bias, real epsilon) {
               const Tensor m = mean(x, {-1}, true);
               const Tensor variance = mean(x * x, {-1}, true) - m * m;
               const Tensor x_hat = (x - m) / sqrt(variance + epsilon);
               return weight ? x_hat * weight + bias : x_hat;
             });
}
