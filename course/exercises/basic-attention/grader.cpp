#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor basic_attention(const Tensor& x);

void grade_basic_attention(Grader& g, Tensor (*basic_attention)(const Tensor& x)) {
  // x_t · x_s
  const auto score = [](const Array& x, int64_t t, int64_t s) {
    return sum_over(x.shape[1], [&](int64_t d) {
      return x.values[static_cast<size_t>(t * x.shape[1] + d)] *
             x.values[static_cast<size_t>(s * x.shape[1] + d)];
    });
  };
  const auto e = [=](const Array& x, int64_t t, int64_t s) { return std::exp(score(x, t, s)); };
  const auto row_sum = [=](const Array& x, int64_t t) {
    return sum_over(x.shape[0], [&](int64_t s) { return e(x, t, s); });
  };
  // y[t, d] = Σₛ weight(x, t, s) x[s, d]
  const auto attention = [](auto weight) {
    return [=](Arrays x, const Index& i) {
      return sum_over(x[0].shape[0],
                      [&](int64_t s) { return weight(x[0], i[0], s) * x[0](i.with(0, s)); });
    };
  };

  const auto check = [&](int64_t length, int64_t width) {
    const Shape shape{length, width};
    const auto right = [=](const Array& x, int64_t t, int64_t s) {
      return e(x, t, s) / row_sum(x, t);
    };
    g.check(
        {.name = fmt::format("basic attention of x {}", shape),
         .inputs = {shape},
         .result = shape,
         .op = [=](Tensors x) { return basic_attention(x[0]); },
         .definition = attention(right),
         .low = -1,
         .high = 1,
         .arguments = {"x"}},
        {wrong_value("The softmax is taken over the positions that look (axis 0): each column adds "
                     "up to 1. The weights of one position, a row, must.",
                     attention([=](const Array& x, int64_t t, int64_t s) {
                       return e(x, t, s) / row_sum(x, s);  // the scores are symmetric
                     })),
         wrong_value("The exponentials are not divided by their sum: the weights do not add up to "
                     "1.",
                     attention(e)),
         wrong_value("The scores themselves are the weights: the softmax is missing.",
                     attention(score)),
         wrong_value("The softmax is taken over all pairs of positions at once: all weights "
                     "together add up to 1, but each row must.",
                     attention([=](const Array& x, int64_t t, int64_t s) {
                       return e(x, t, s) /
                              sum_over(x.shape[0], [&](int64_t r) { return row_sum(x, r); });
                     })),
         wrong_value(
             "The scores are divided by √D. That is scaled dot-product attention; the basic "
             "one has no scale.",
             attention([=](const Array& x, int64_t t, int64_t s) {
               const double scale = 1 / std::sqrt(static_cast<double>(x.shape[1]));
               return std::exp(scale * score(x, t, s)) / sum_over(x.shape[0], [&](int64_t r) {
                        return std::exp(scale * score(x, t, r));
                      });
             })),
         wrong_value(
             "These are the weights, (T, T). The result is the mean of the rows of x with "
             "these weights, (T, D).",
             [=](Arrays x, const Index& i) { return right(x[0], i[0], i[1]); },
             Shape{length, length}),
         wrong_value("This is the plain mean of all rows of x: the weights do not depend on the "
                     "scores.",
                     attention([](const Array& x, int64_t, int64_t) {
                       return 1 / static_cast<double>(x.shape[0]);
                     })),
         wrong_value("This is x itself.", [](Arrays x, const Index& i) { return x[0](i); })});
  };
  check(g.size(3, 5), g.size(2, 3));
  check(g.size(2, 3), g.size(4, 6));
  check(1, g.size(1, 4));
  check(g.size(6, 9), 1);
}
HEED_GRADE(basic_attention, basic_attention);

}  // namespace heed::course
