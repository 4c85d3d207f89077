// The exercise temperature: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_temperature(Grader& g,
                       Tensor (*tempered_weights)(const Tensor& scores, double temperature));

namespace {

namespace temperature_stub {
using namespace heed;
#include "course/exercises/temperature/exercise.cpp"
}  // namespace temperature_stub

Tensor one_at_maxima(const Tensor& scores) {
  const Tensor below = scores - max(scores, {-1}, true);
  Tensor ones = Tensor::zeros(scores.shape());
  for (int64_t i = 0; i < scores.size(); ++i) ones.mutable_data()[i] = below.data()[i] == 0;
  return ones;
}

TEST_CASE("exercise temperature: the solution passes") {
  CHECK(graded(grade_temperature, [](const Tensor& s, double t) {
          return t == 0 ? hardmax(s) : softmax(s / t);
        }) == "");
  CHECK(graded(grade_temperature, [](const Tensor& s, double t) {
          const Tensor ones = one_at_maxima(s);
          return t == 0 ? ones / sum(ones, {-1}, true) : softmax(s * (1 / t));
        }) == "");
}

TEST_CASE("exercise temperature: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_temperature,
              temperature_stub::heed::course::tempered_weights);
  CHECK_NAMED("the temperature is not used", grade_temperature,
              [](const Tensor& s, double) { return softmax(s); });
  CHECK_NAMED("multiplied by T", grade_temperature,
              [](const Tensor& s, double t) { return softmax(s * t); });
  CHECK_NAMED("outside the exponent in the numerator", grade_temperature,
              [](const Tensor& s, double t) { return (exp(s) / t) / sum(exp(s / t), {-1}, true); });
  CHECK_NAMED("Divide the scores, before", grade_temperature,
              [](const Tensor& s, double t) { return softmax(s) / t; });
  CHECK_NAMED("along the first axis", grade_temperature,
              [](const Tensor& s, double t) { return softmax(s / t, 0); });
  CHECK_NAMED("Of equal maxima the first", grade_temperature, [](const Tensor& s, double t) {
    if (t > 0) return softmax(s / t);
    Tensor first = Tensor::zeros(s.shape());
    for (int64_t i = 0; i < s.dim(0); ++i) {
      const real* row = s.data() + i * s.dim(1);
      first.mutable_data()[i * s.dim(1) + (std::max_element(row, row + s.dim(1)) - row)] = 1;
    }
    return first;
  });
  CHECK_NAMED("adds up to more than 1", grade_temperature,
              [](const Tensor& s, double t) { return t == 0 ? one_at_maxima(s) : softmax(s / t); });
  CHECK_NAMED("the limit for T = 0", grade_temperature, [](const Tensor& s, double t) {
    return t == 0 || t > 1e9 ? hardmax(s) : softmax(s / t);
  });
  CHECK_NAMED("divided by 0", grade_temperature,
              [](const Tensor& s, double t) { return softmax(s / t); });
  CHECK_NAMED("Not a number", grade_temperature, [](const Tensor& s, double t) {
    return t == 0 ? hardmax(s) : exp(s / t) / sum(exp(s / t), {-1}, true);
  });
}

}  // namespace
}  // namespace heed::course
