#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor tempered_weights(const Tensor& scores, double temperature);

void grade_temperature(Grader& g,
                       Tensor (*tempered_weights)(const Tensor& scores, double temperature)) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto row = [](const Array& x, int64_t i) {
    const auto width = static_cast<size_t>(x.shape[1]), first = static_cast<size_t>(i) * width;
    return std::span(x.values).subspan(first, width);
  };
  // exp(a x[i, j]) / Σ exp(b x[i, l])
  const auto exponentials = [=](double a, double b) {
    return [=](Arrays x, const Index& i) {
      double total = 0;
      for (const double v : row(x[0], i[0])) total += std::exp(b * v - a * x[0](i));
      return 1 / total;
    };
  };
  const auto uniform = [](Arrays x, const Index&) {
    return 1 / static_cast<double>(x[0].shape[1]);
  };
  // At the maxima of a row f(number of maxima, whether it is the first of them), 0 elsewhere.
  const auto at_maxima = [=](auto f) {
    return [=](Arrays x, const Index& i) -> double {
      const auto values = row(x[0], i[0]);
      const double max = *std::max_element(values.begin(), values.end());
      if (x[0](i) != max) return 0;
      const auto count = static_cast<double>(std::count(values.begin(), values.end(), max));
      const bool first = std::find(values.begin(), values.end(), max) - values.begin() == i[1];
      return f(count, first);
    };
  };
  const auto hard = at_maxima([](double count, bool) { return 1 / count; });

  const auto check = [&](double t, const Shape& shape, std::vector<double> values = {}) {
    const bool limit = t == 0 || t == infinity;
    const double inverse = limit ? 0 : 1 / t;
    std::vector<Mistake> mistakes = {
        wrong_value("This is the softmax at T = 1: the temperature is not used.",
                    exponentials(1, 1)),
        wrong_value("This is uniform, which is the limit for T = ∞.", uniform),
        wrong_value("This is the limit for T = 0.", hard),
        wrong_value("Of equal maxima the first has the whole weight. The limit of the softmax is "
                    "shared by all of them.",
                    at_maxima([](double, bool first) { return first ? 1.0 : 0.0; })),
        wrong_value("Each of several equal maxima has the weight 1: the row adds up to more than "
                    "1.",
                    at_maxima([](double, bool) { return 1.0; }))};
    if (t == 0)
      mistakes.push_back(
          wrong_value("The scores are divided by 0, which gives ±∞: T = 0 needs a case of its own.",
                      [=](Arrays x, const Index& i) -> double {
                        const auto of_row = row(x[0], i[0]);
                        const bool overflows = *std::max_element(of_row.begin(), of_row.end()) > 0;
                        return overflows ? std::numeric_limits<double>::quiet_NaN() : 0;
                      }));
    if (!limit) {
      mistakes.push_back(wrong_value("The scores are multiplied by T; they must be divided by it.",
                                     exponentials(t, t)));
      mistakes.push_back(wrong_value(
          "T is outside the exponent in the numerator, eˣ / T: the weights do not add up to 1.",
          [=](Arrays x, const Index& i) { return exponentials(1, inverse)(x, i) / t; }));
      mistakes.push_back(
          wrong_value("The weights are divided by T. Divide the scores, before the softmax.",
                      [=](Arrays x, const Index& i) { return exponentials(1, 1)(x, i) / t; }));
      mistakes.push_back(
          wrong_value("The softmax runs along the first axis: columns add up to 1, but rows must.",
                      [=](Arrays x, const Index& i) {
                        double total = 0;
                        for (int64_t r = 0; r < x[0].shape[0]; ++r)
                          total += std::exp(inverse * (x[0](i.with(0, r)) - x[0](i)));
                        return 1 / total;
                      }));
    }
    g.check({.name = fmt::format("weights of scores {} at T = {:.3g}", shape, t),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return tempered_weights(x[0], t); },
             .definition = t == 0          ? Definition(hard)
                           : t == infinity ? Definition(uniform)
                                           : Definition(exponentials(inverse, inverse)),
             .values = values.empty() ? std::vector<std::vector<double>>{}
                                      : std::vector<std::vector<double>>{std::move(values)},
             .arguments = {"scores"},
             .differentiable = !limit},
            mistakes);
  };
  check(g.number(1.5, 3), {g.size(2, 3), g.size(4, 6)});
  check(g.number(0.3, 0.7), {g.size(2, 3), g.size(4, 6)});
  check(1, {2, g.size(2, 4)});
  check(0, {g.size(2, 3), g.size(4, 6)});
  const double high = g.number(1, 2), low = -g.number(0, 1);
  check(0, {2, 4}, {low, high, low, high, high, high, low, high});  // ties
  check(infinity, {2, g.size(3, 6)});
  // e^(s / T) is infinite here, its softmax is not.
  check(1e-3, {2, 3}, {high, high + 1, low, low, low, high});
}
HEED_GRADE(temperature, tempered_weights);

}  // namespace heed::course
