#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor scaled_dot_product(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Ids& keep);

void grade_scaled_dot_product(Grader& g,
                              Tensor (*scaled_dot_product)(const Tensor& q, const Tensor& k,
                                                           const Tensor& v, const Ids& keep)) {
  const auto check = [&](int64_t queries, int64_t keys, int64_t width, int64_t value_width) {
    // Each query keeps one key at least.
    Ids keep = g.ids({queries, keys}, 2);
    for (int64_t i = 0; i < queries; ++i) keep.mutable_data()[i * keys + g.size(0, keys - 1)] = 1;
    const auto kept = [=](int64_t i, int64_t j) { return keep[i * keys + j] != 0; };
    const auto product = [=](Arrays x, int64_t i, int64_t j) {
      return sum_over(width, [&](int64_t c) {
        return x[0].values[static_cast<size_t>(i * width + c)] *
               x[1].values[static_cast<size_t>(j * width + c)];
      });
    };
    // y[i, c] = Σⱼ f(i, j) v[j, c] / Σⱼ f(i, j)
    const auto mean = [=](auto f) {
      return [=](Arrays x, const Index& i) {
        const double total = sum_over(keys, [&](int64_t j) { return f(x, i[0], j); });
        const double result =
            sum_over(keys, [&](int64_t j) { return f(x, i[0], j) * x[2](i.with(0, j)); });
        return total > 0 ? result / total : 0;
      };
    };
    const auto scaled_by = [=](double scale) {
      return mean([=](Arrays x, int64_t i, int64_t j) {
        return kept(i, j) ? std::exp(scale * product(x, i, j)) : 0;
      });
    };
    const double root = 1 / std::sqrt(static_cast<double>(width));
    const auto e = [=](Arrays x, int64_t i, int64_t j) {
      return std::exp(root * product(x, i, j));
    };
    const auto e_kept = [=](Arrays x, int64_t i, int64_t j) { return kept(i, j) ? e(x, i, j) : 0; };

    g.check(
        {.name = fmt::format("attention of q [{}, {}] to k [{}, {}]", queries, width, keys, width),
         .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
         .result = {queries, value_width},
         .op = [=](Tensors x) { return scaled_dot_product(x[0], x[1], x[2], keep); },
         .definition = mean(e_kept),
         .low = -1.5,
         .high = 1.5,
         .arguments = {"q", "k", "v"}},
        {wrong_value("The mask is ignored: every query reads every key.", mean(e)),
         wrong_value(
             "The mask is the wrong way round: hidden keys are read, kept ones are not.",
             mean([=](Arrays x, int64_t i, int64_t j) { return kept(i, j) ? 0 : e(x, i, j); })),
         wrong_value(
             "Hidden keys have the score 0, whose exponential is 1: they are still read. "
             "The score must be -∞.",
             mean([=](Arrays x, int64_t i, int64_t j) { return kept(i, j) ? e(x, i, j) : 1; })),
         wrong_value(
             "The mask acts after the softmax: the weights of the kept keys do not add up to 1.",
             [=](Arrays x, const Index& i) {
               return sum_over(keys,
                               [&](int64_t j) { return e_kept(x, i[0], j) * x[2](i.with(0, j)); }) /
                      sum_over(keys, [&](int64_t j) { return e(x, i[0], j); });
             }),
         wrong_value("The scores are not scaled: q · k must be divided by √K.", scaled_by(1)),
         wrong_value("The scores are divided by K, not by its root.", scaled_by(root * root)),
         wrong_value("The scores are multiplied by √K, not divided.", scaled_by(1 / root)),
         wrong_value("The scores are divided by √Tq, the root of the number of queries: q.dim(0) "
                     "is not the width.",
                     scaled_by(1 / std::sqrt(static_cast<double>(queries)))),
         wrong_value("The scores are divided by √Tk, the root of the number of keys.",
                     scaled_by(1 / std::sqrt(static_cast<double>(keys)))),
         wrong_value("The scores are divided by √V, the root of the width of the values.",
                     scaled_by(1 / std::sqrt(static_cast<double>(value_width)))),
         wrong_value(
             "The softmax runs over the queries: each column adds up to 1, but each row must.",
             [=](Arrays x, const Index& i) {
               return sum_over(keys, [&](int64_t j) {
                 const double f = e_kept(x, i[0], j);
                 const double total = sum_over(queries, [&](int64_t r) { return e_kept(x, r, j); });
                 return total > 0 ? f / total * x[2](i.with(0, j)) : 0;
               });
             }),
         wrong_value("The exponentials are not divided by their sum.",
                     [=](Arrays x, const Index& i) {
                       return sum_over(keys, [&](int64_t j) {
                         return e_kept(x, i[0], j) * x[2](i.with(0, j));
                       });
                     }),
         wrong_value(
             "These are the weights, (Tq, Tk). The result is the mean of the values with "
             "these weights.",
             [=](Arrays x, const Index& i) {
               return e_kept(x, i[0], i[1]) /
                      sum_over(keys, [&](int64_t j) { return e_kept(x, i[0], j); });
             },
             Shape{queries, keys})});
  };
  check(g.size(4, 5), g.size(6, 7), 3, 2);
  check(g.size(2, 3), g.size(7, 8), g.size(4, 5), 6);
  check(1, g.size(2, 4), 1, 1);
  check(g.size(3, 4), 1, 2, g.size(1, 3));
  g.expect(!uses_operation("scaled_dot_product_attention",
                           [=] {
                             const Tensor x = Tensor::zeros({2, 2});
                             scaled_dot_product(x, x, x, Ids::full({2, 2}, 1));
                           }),
           "calls scaled_dot_product_attention",
           "That is the library's answer: compose it of smaller operations.");
}
HEED_GRADE(scaled_dot_product, scaled_dot_product);

}  // namespace heed::course
