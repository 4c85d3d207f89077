#include "course/grader/grader.h"

#include <cmath>

namespace heed::course {

[[gnu::weak]] Tensor basic_attention(const Tensor& x);

void grade_basic_attention(Grader& g, decltype(&basic_attention) answer) {
  const auto check = [&](int64_t length, int64_t width) {
    const Shape shape{length, width};
    const auto exponential = [=](const Array& x, int64_t t, int64_t s) {
      return std::exp(sum_over(width, [&](int64_t d) {
        return x(Index{{t, d}, 2}) * x(Index{{s, d}, 2});
      }));
    };
    const auto definition = [=](Arrays x, const Index& i) {
      const auto e = [&](int64_t s) { return exponential(x[0], i[0], s); };
      return sum_over(length, [&](int64_t s) { return e(s) * x[0](i.with(0, s)); }) /
             sum_over(length, e);
    };
    g.check({.name = fmt::format("basic attention of x {}", shape),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0]); },
             .definition = definition,
             .low = -1,
             .high = 1,
             .arguments = {"x"}});
  };
  check(g.size(3, 5), g.size(2, 3));
  check(g.size(2, 3), g.size(4, 6));
  check(1, g.size(1, 4));
  check(g.size(6, 9), 1);
}

namespace {

Tensor products_of_rows(const Tensor& x) { return matmul(x, transpose(x, 0, 1)); }

const Exercise basic_attention_exercise(
    "basic_attention", grade_basic_attention, {basic_attention},
    {{"", [](const Tensor& x) { return matmul(softmax(products_of_rows(x)), x); }},
     {"The softmax is taken over the positions that look (axis 0): each column adds up to 1. "
      "Each row must: it has the weights of one position.",
      [](const Tensor& x) { return matmul(softmax(products_of_rows(x), 0), x); }},
     {"The exponentials are not divided by their sum: the weights do not add up to 1.",
      [](const Tensor& x) { return matmul(exp(products_of_rows(x)), x); }},
     {"The scores themselves are the weights: the softmax is missing.",
      [](const Tensor& x) { return matmul(products_of_rows(x), x); }},
     {"The softmax is taken over all pairs of positions at once: all weights together add up to 1, "
      "but each row must.",
      [](const Tensor& x) {
        const Tensor e = exp(products_of_rows(x));
        return matmul(e / sum(e), x);
      }},
     {"The scores are divided by √D. That is scaled dot-product attention; the basic one has no "
      "scale.",
      [](const Tensor& x) {
        const double root = std::sqrt(static_cast<double>(x.dim(1)));
        return matmul(softmax(products_of_rows(x) / root), x);
      }},
     {"The scores are negated: the more alike two positions are, the less they attend to each "
      "other.",
      [](const Tensor& x) { return matmul(softmax(-products_of_rows(x)), x); }},
     {"The scores are xᵀ x, (D, D): products of the columns. They are products of the rows, x xᵀ, "
      "(T, T).",
      [](const Tensor& x) {
        return matmul(x, transpose(softmax(matmul(transpose(x, 0, 1), x)), 0, 1));
      }},
     {"The scores are xᵀ x, (D, D): products of the columns. They are products of the rows, x xᵀ, "
      "(T, T).",
      [](const Tensor& x) { return matmul(x, softmax(matmul(transpose(x, 0, 1), x))); }},
     {"The scores are xᵀ x, (D, D): products of the columns. They are products of the rows, x xᵀ, "
      "(T, T).",
      [](const Tensor& x) { return matmul(softmax(matmul(transpose(x, 0, 1), x)), x); }},
     {"These are the weights, (T, T). The result is the mean of the rows of x with these weights, "
      "(T, D).",
      [](const Tensor& x) { return softmax(products_of_rows(x)); }},
     {"This is the plain mean of all rows of x: the weights do not depend on the scores.",
      [](const Tensor& x) { return Tensor::zeros(x.shape()) + mean(x, {0}); }},
     {"This is x itself.", [](const Tensor& x) { return x + 0; }}});

}  // namespace
}  // namespace heed::course
