#include "course/grader/grader.h"

#include <cmath>
#include <limits>

#include "course/grader/training.h"
#include "nn/forms/positional.h"

namespace heed::course {

void grade_softmax(Grader& g, decltype(&softmax) answer) {
  const auto check = [&](const Shape& shape, int axis) {
    g.check({.name = fmt::format("softmax of x {} along axis {}", shape, axis),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0], axis); },
             .definition =
                 [=](Arrays x, const Index& i) {
                   return std::exp(x[0](i)) / sum_over(shape[axis], [&](int64_t k) {
                            return std::exp(x[0](i.with(axis, k)));
                          });
                 },
             .arguments = {"x"}});
  };
  check({g.size(2, 4), g.size(2, 5)}, -1);
  check({g.size(2, 4), g.size(2, 4), g.size(2, 4)}, 1);
  check({g.size(2, 5), g.size(2, 4)}, 0);
  check({g.size(2, 6)}, 0);
  check({g.size(2, 3), 1}, -1);
  if (!g.passed()) return;

  const double large = g.number(800, 1000), difference = g.number(0.5, 2);
  const Tensor y =
      answer(Tensor::from({2, 2}, {large, large - difference, -large, -large - difference}), -1);
  const double expected = 1 / (1 + std::exp(-difference));
  const std::string overflow =
      "exp overflows above 709, and is 0 below -745. Subtract the largest element of each line "
      "first: the result is the same.";
  for (const int64_t i : {0, 2})
    g.expect_near(fmt::format("softmax of [{0:.1f}, {0:.1f} - {1:.1f}], element 0",
                              i == 0 ? large : -large, difference),
                  y.data()[i], expected,
                  {{std::numeric_limits<double>::quiet_NaN(), overflow}, {0, overflow}});

  constexpr double hidden = -std::numeric_limits<double>::infinity();
  const Tensor masked =
      answer(Tensor::from({2, 3}, {hidden, 1.0, 1.0, hidden, hidden, hidden}), -1);
  g.expect_near("softmax of [-inf, 1, 1], element 1", masked.data()[1], 0.5);
  g.expect_near("softmax of [-inf, -inf, -inf], element 0", masked.data()[3], 0,
                {{std::numeric_limits<double>::quiet_NaN(),
                  "-inf - (-inf) and 0/0 are not a number. If every element of a line is hidden, "
                  "the result is zeros: nothing is attended to."}});
}
namespace {
namespace softmax_answers {

Tensor totals(const Tensor& x, int axis) { return sum(exp(x), {axis}, true); }
Tensor probabilities(const Tensor& x, int axis) { return exp(x) / totals(x, axis); }
// Their gradient is dy · y.
Tensor without_sum(const Tensor& x, int axis) { return exp(x) / totals(x, axis).detach(); }

const Exercise softmax_exercise(
    "softmax", grade_softmax, {softmax},
    {{"The exponentials are not divided by their sum.",
      [](const Tensor& x, int) { return exp(x); }},
     {"The exponentials are divided by the sum of all elements of x. Each line along the axis has "
      "its own sum.",
      [](const Tensor& x, int) { return exp(x) / sum(exp(x)); }},
     {"This is the logarithm of the softmax.",
      [](const Tensor& x, int axis) { return log(probabilities(x, axis)); }},
     {"This is the softmax along the first axis, whatever the argument axis says.",
      [](const Tensor& x, int) { return probabilities(x, 0); }},
     {"This is the softmax along the last axis, whatever the argument axis says.",
      [](const Tensor& x, int) { return probabilities(x, -1); }},
     {"This is dy · y: the term - y Σ dy · y is missing. It comes from the sum that every element "
      "is divided by.",
      without_sum},
     {"This is dy · y (1 - y), the diagonal of the Jacobian only: each element of y depends on "
      "every element of x along the axis.",
      [](const Tensor& x, int axis) {
        return with_gradient(without_sum(x, axis), 1 - probabilities(x, axis));
      }},
     {"The factor y is missing: this is dy - Σ dy · y, and the gradient is y (dy - Σ dy · y).",
      [](const Tensor& x, int axis) {
        return probabilities(with_gradient(x, 1 / probabilities(x, axis)), axis);
      }},
     {"The sum has no y in it: this is y (dy - Σ dy).",
      [](const Tensor& x, int axis) {
        const Tensor total = log(totals(x, axis));  // its gradient is y
        return without_sum(x, axis) - (total - total.detach());
      }},
     {"This is y (dy - Σ dy · y) with a sum over all of x. The sum is along the axis.",
      [](const Tensor& x, int axis) {
        const Tensor total = sum(log(totals(x, axis)));
        return without_sum(x, axis) - probabilities(x, axis).detach() * (total - total.detach());
      }}});
HEED_TRAIN(softmax, positional_encodings::relative);

}  // namespace softmax_answers
}  // namespace
}  // namespace heed::course
