#include "course/grader/grader.h"

#include <cmath>
#include <limits>

#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {

void grade_softmax(Grader& g, Tensor (*softmax)(const Tensor& x, int axis)) {
  const auto exponentials = [](const Array& x, const Index& i, int axis) {
    return sum_over(x.shape[axis], [&](int64_t k) { return std::exp(x(i.with(axis, k))); });
  };
  const auto p = [=](const Array& x, const Index& i, int axis) {
    return std::exp(x(i)) / exponentials(x, i, axis);
  };
  // Σₖ dy[k] p[k] along the axis
  const auto mean_cotangent = [=](const Array& x, const Array& dy, const Index& i, int axis) {
    return sum_over(x.shape[axis],
                    [&](int64_t k) { return dy(i.with(axis, k)) * p(x, i.with(axis, k), axis); });
  };
  const auto row = [&](const Shape& shape, int axis) {
    return OpRow{.name = fmt::format("softmax of x {} along axis {}", shape, axis),
                 .inputs = {shape},
                 .result = shape,
                 .op = [=](Tensors x) { return softmax(x[0], axis); },
                 .definition = [=](Arrays x, const Index& i) { return p(x[0], i, axis); },
                 .arguments = {"x"}};
  };
  const auto check = [&](const Shape& shape, int axis) {
    std::vector<Mistake> mistakes{
        wrong_value("The exponentials are not divided by their sum.",
                    [](Arrays x, const Index& i) { return std::exp(x[0](i)); }),
        wrong_value("The exponentials are divided by the sum of all elements of x. Each line along "
                    "the axis has its own sum.",
                    [=](Arrays x, const Index& i) {
                      double total = 0;
                      for (const double v : x[0].values) total += std::exp(v);
                      return std::exp(x[0](i)) / total;
                    }),
        wrong_value("This is the logarithm of the softmax.",
                    [=](Arrays x, const Index& i) { return std::log(p(x[0], i, axis)); }),
        wrong_gradient(
            "x",
            "This is dy · y: the term - y Σ dy · y is missing. It comes from the sum that "
            "every element is divided by.",
            [=](Arrays x, const Array& dy, const Index& i) { return dy(i) * p(x[0], i, axis); }),
        wrong_gradient(
            "x",
            "This is dy · y (1 - y), the diagonal of the Jacobian only: each element of y "
            "depends on every element of x along the axis.",
            [=](Arrays x, const Array& dy, const Index& i) {
              const double y = p(x[0], i, axis);
              return dy(i) * y * (1 - y);
            }),
        wrong_gradient("x",
                       "The factor y is missing: this is dy - Σ dy · y, and the gradient is "
                       "y (dy - Σ dy · y).",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return dy(i) - mean_cotangent(x[0], dy, i, axis);
                       }),
        wrong_gradient("x", "The sum has no y in it: this is y (dy - Σ dy).",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         return p(x[0], i, axis) *
                                (dy(i) - sum_over(x[0].shape[axis],
                                                  [&](int64_t k) { return dy(i.with(axis, k)); }));
                       }),
        wrong_gradient("x",
                       "This is y (dy - Σ dy · y) with a sum over all of x. The sum is along the "
                       "axis.",
                       [=](Arrays x, const Array& dy, const Index& i) {
                         double total = 0;
                         for (const Index& k : indices(x[0].shape))
                           total += dy(k) * p(x[0], k, axis);
                         return p(x[0], i, axis) * (dy(i) - total);
                       })};
    for (int other = 0; other < shape.rank(); ++other)
      if (other != shape.axis(axis))
        mistakes.push_back(wrong_value(
            fmt::format("This is the softmax along axis {}, not along axis {}.", other, axis),
            [=](Arrays x, const Index& i) { return p(x[0], i, other); }));
    g.check(row(shape, axis), mistakes);
  };
  check({g.size(2, 4), g.size(2, 5)}, -1);
  check({g.size(2, 4), g.size(2, 4), g.size(2, 4)}, 1);
  check({g.size(2, 5), g.size(2, 4)}, 0);
  check({g.size(2, 6)}, 0);
  check({g.size(2, 3), 1}, -1);

  const double large = g.number(800, 1000), difference = g.number(0.5, 2);
  const Tensor y =
      softmax(Tensor::from({2, 2}, {large, large - difference, -large, -large - difference}), -1);
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
      softmax(Tensor::from({2, 3}, {hidden, 1.0, 1.0, hidden, hidden, hidden}), -1);
  g.expect_near("softmax of [-inf, 1, 1], element 1", masked.data()[1], 0.5);
  g.expect_near("softmax of [-inf, -inf, -inf], element 0", masked.data()[3], 0,
                {{std::numeric_limits<double>::quiet_NaN(),
                  "-inf - (-inf) and 0/0 are not a number. A line of which every element is hidden "
                  "gives zeros in the library, so that nothing is attended to."}});
}
HEED_GRADE(softmax, softmax);
HEED_TRAIN(softmax, positional_encodings::relative);

}  // namespace heed::course
