#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor tempered_weights(const Tensor& scores, double temperature);

void grade_temperature(Grader& g, decltype(&tempered_weights) answer) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto check = [&](double t, const Shape& shape, std::vector<double> values = {}) {
    // The softmax of x / t: at T = 0 shared by the maxima, at T = ∞ by all.
    const auto definition = [=](Arrays x, const Index& i) {
      double largest = -infinity;
      for (int64_t j = 0; j < shape[1]; ++j) largest = std::max(largest, x[0](i.with(1, j)));
      const auto e = [&](int64_t j) {
        const double below = x[0](i.with(1, j)) - largest;
        return below == 0 ? 1 : t == 0 ? 0 : std::exp(below / t);
      };
      return e(i[1]) / sum_over(shape[1], e);
    };
    g.check({.name = fmt::format("weights of scores {} at T = {:.3g}", shape, t),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0], t); },
             .definition = definition,
             .values = values.empty() ? std::vector<std::vector<double>>{}
                                      : std::vector<std::vector<double>>{std::move(values)},
             .arguments = {"scores"},
             .differentiable = t != 0 && t != infinity});
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
namespace {
namespace temperature_answers {

Tensor uniform(const Tensor& s) { return softmax(0 * s); }
Tensor one_at_maxima(const Tensor& s) {
  const Tensor below = s - max(s, {-1}, true);
  Tensor ones = Tensor::zeros(s.shape());
  for (int64_t i = 0; i < s.size(); ++i) ones.mutable_data()[i] = below.data()[i] == 0;
  return ones;
}
Tensor first_maximum(const Tensor& s) {
  Tensor first = Tensor::zeros(s.shape());
  for (int64_t i = 0; i < s.dim(0); ++i) {
    const real* const row = s.data() + i * s.dim(1);
    first.mutable_data()[i * s.dim(1) + (std::max_element(row, row + s.dim(1)) - row)] = 1;
  }
  return first;
}

// Right, but for T = 0, or for T = ∞.
template <auto weights>
Tensor at_0(const Tensor& s, double t) {
  return t == 0 ? weights(s) : softmax(s / t);
}
template <auto weights>
Tensor at_infinity(const Tensor& s, double t) {
  return t == 0 ? hardmax(s) : std::isinf(t) ? weights(s) : softmax(s / t);
}

const Exercise temperature_exercise(
    "temperature", grade_temperature, {tempered_weights},
    {{"", at_0<[](const Tensor& s) { return hardmax(s); }>},
     {"This is the softmax at T = 1: the temperature is not used.",
      [](const Tensor& s, double) { return softmax(s); }},
     {"This is the softmax at T = 1: the temperature is not used.",
      at_0<[](const Tensor& s) { return softmax(s); }>},
     {"This is the softmax at T = 1: the temperature is not used.",
      at_infinity<[](const Tensor& s) { return softmax(s); }>},
     {"This is uniform, which is the limit for T = ∞.",
      [](const Tensor& s, double) { return uniform(s); }},
     {"This is uniform, which is the limit for T = ∞.", at_0<uniform>},
     {"This is the limit for T = 0.", [](const Tensor& s, double) { return hardmax(s); }},
     {"This is the limit for T = 0.", at_infinity<[](const Tensor& s) { return hardmax(s); }>},
     {"The first of several equal maxima has the whole weight. In the limit of the softmax they "
      "share it.",
      at_0<first_maximum>},
     {"Each of several equal maxima has the weight 1: the row adds up to more than 1.",
      at_0<one_at_maxima>},
     {"The scores are divided by 0, which gives ±∞: T = 0 needs a case of its own.",
      [](const Tensor& s, double t) { return softmax(s / t); }},
     {"The scores are multiplied by T; they must be divided by it.",
      [](const Tensor& s, double t) { return softmax(s * t); }},
     {"The scores are negated: the smallest score gets the largest weight.",
      [](const Tensor& s, double t) { return t == 0 ? hardmax(-s) : softmax(s / -t); }},
     {"T is outside the exponent in the numerator, eˣ / T: the weights do not add up to 1.",
      [](const Tensor& s, double t) { return exp(s) / t / sum(exp(s / t), {-1}, true); }},
     {"The weights are divided by T. Divide the scores, before the softmax.",
      [](const Tensor& s, double t) { return softmax(s) / t; }},
     {"The softmax runs along the first axis: columns add up to 1, but rows must.",
      [](const Tensor& s, double t) { return softmax(s / t, 0); }}});

}  // namespace temperature_answers
}  // namespace
}  // namespace heed::course
