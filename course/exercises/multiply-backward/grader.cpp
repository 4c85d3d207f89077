#include "course/grader/grader.h"

#include "course/grader/training.h"
#include "nn/positional.h"

namespace heed::course {

void grade_multiply_backward(Grader& g, Tensor (*mul)(const Tensor& a, const Tensor& b)) {
  // Returns whether the element at `at` of an array of `own` shape was used for the element at
  // `whole`.
  const auto used = [](const Shape& own, const Index& at, const Index& whole) {
    for (int axis = 1; axis <= own.rank(); ++axis)
      if (at[-axis] != (own[-axis] == 1 ? 0 : whole[-axis])) return false;
    return true;
  };
  const auto check = [&](const Shape& a, const Shape& b) {
    const Shape shape = heed::broadcast("mul", a, b);
    const OpRow row{.name = fmt::format("product of a {} and b {}", a, b),
                    .inputs = {a, b},
                    .result = shape,
                    .op = [=](Tensors x) { return mul(x[0], x[1]); },
                    .definition = [](Arrays x, const Index& i) { return x[0](i) * x[1](i); },
                    .arguments = {"a", "b"}};
    std::vector<Mistake> mistakes{wrong_value(
        "This is the sum a + b.", [](Arrays x, const Index& i) { return x[0](i) + x[1](i); })};
    for (const size_t k : {size_t{0}, size_t{1}}) {
      const std::string own_name = k == 0 ? "a" : "b", other_name = k == 0 ? "b" : "a";
      const Shape own = k == 0 ? a : b;
      // The gradient as the function `join` of the contributions f of all elements of y that used
      // an element.
      const auto gradient = [=](auto f, auto join) {
        return [=](Arrays x, const Array& dy, const Index& at) {
          std::vector<double> terms;
          for (const Index& whole : indices(dy.shape))
            if (used(own, at, whole)) terms.push_back(f(dy(whole), x[k](whole), x[1 - k](whole)));
          return join(terms);
        };
      };
      const auto sum = [](const std::vector<double>& terms) {
        return sum_over(static_cast<int64_t>(terms.size()),
                        [&](int64_t i) { return terms[static_cast<size_t>(i)]; });
      };
      const auto right = [](double dy, double, double other) { return dy * other; };
      const auto add = [&](const std::string& sentence, GradientFormula formula) {
        mistakes.push_back(wrong_gradient(own_name, sentence, std::move(formula)));
      };
      const std::string unsummed =
          "This is the gradient without the sum over the broadcast axes: an element of " +
          own_name + " was used several times, and only the ";
      add(fmt::format("This is dy · {0}: the derivative of a · b by {0} is {1}.", own_name,
                      other_name),
          gradient([](double dy, double self, double) { return dy * self; }, sum));
      add(fmt::format("This is dy: the factor {} is missing.", other_name),
          gradient([](double dy, double, double) { return dy; }, sum));
      add(fmt::format("This is {}: the factor dy is missing, with which the loss reaches y.",
                      other_name),
          gradient([](double, double, double other) { return other; }, sum));
      if (own == shape) continue;
      add(unsummed + "last time counts.",
          gradient(right, [](const std::vector<double>& terms) { return terms.back(); }));
      add(unsummed + "first time counts.",
          gradient(right, [](const std::vector<double>& terms) { return terms.front(); }));
      add("This is the mean over the broadcast axes. Gradients of several uses add up: it is a "
          "sum.",
          gradient(right, [=](const std::vector<double>& terms) {
            return sum(terms) / static_cast<double>(terms.size());
          }));
    }
    g.check(row, mistakes);
  };
  const int64_t n = g.size(2, 4), m = g.size(2, 4), k = g.size(2, 3);
  check({n, m}, {n, m});
  check({m}, {n, m});
  check({n, m}, {m});
  check({n, 1}, {m});
  check({n, 1, k}, {m, 1});
  check({}, {n, m});
  check({k, 1, 1}, {});
}
HEED_GRADE(multiply_backward, mul);
HEED_TRAIN(multiply_backward, positional_encodings::relative);

}  // namespace heed::course
