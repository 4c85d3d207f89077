#include "course/grader/grader.h"

#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor scaled_dot_product(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Ids& keep);

void grade_scaled_dot_product(Grader& g, decltype(&scaled_dot_product) answer) {
  const auto check = [&](int64_t queries, int64_t keys, int64_t width, int64_t value_width) {
    // Each query keeps one key at least.
    Ids keep = g.ids({queries, keys}, 2);
    for (int64_t i = 0; i < queries; ++i) keep.mutable_data()[i * keys + g.size(0, keys - 1)] = 1;
    const auto definition = [=](Arrays x, const Index& i) {
      double total = 0, result = 0;
      for (int64_t j = 0; j < keys; ++j) {
        if (keep[i[0] * keys + j] == 0) continue;
        const double dot = sum_over(width, [&](int64_t c) {
          return x[0](i.with(1, c)) * x[1](Index{{j, c}, 2});
        });
        const double f = std::exp(dot / std::sqrt(static_cast<double>(width)));
        total += f;
        result += f * x[2](i.with(0, j));
      }
      return result / total;
    };
    g.check(
        {.name = fmt::format("attention of q [{}, {}] to k [{}, {}]", queries, width, keys, width),
         .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
         .result = {queries, value_width},
         .op = [=](Tensors x) { return answer(x[0], x[1], x[2], keep); },
         .definition = definition,
         .low = -1.5,
         .high = 1.5,
         .arguments = {"q", "k", "v"}});
  };
  check(g.size(4, 5), g.size(6, 7), 3, 2);
  check(g.size(2, 3), g.size(7, 8), g.size(4, 5), 6);
  check(1, g.size(2, 4), 1, 1);
  check(g.size(3, 4), 1, 2, g.size(1, 3));
  g.expect(!uses_operation("scaled_dot_product_attention",
                           [=] {
                             const Tensor x = Tensor::zeros({2, 2});
                             answer(x, x, x, Ids::full({2, 2}, 1));
                           }),
           "calls scaled_dot_product_attention");
}

namespace {
namespace scaled_dot_product_answers {

struct Attention {
  const Tensor &q, &k, &v;
  const Ids& keep;

  double root() const { return std::sqrt(static_cast<double>(q.dim(1))); }
  Tensor products() const { return matmul(q, transpose(k, 0, 1)); }
  Tensor scores() const { return products() / root(); }
  Tensor hidden(const Tensor& of, double value = -std::numeric_limits<double>::infinity()) const {
    return where(keep, of, Tensor::full(of.shape(), value));
  }
  Tensor mean(const Tensor& of) const { return matmul(softmax(hidden(of)), v); }
};

template <auto attend>
Tensor masked(const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
  return attend(Attention{q, k, v, keep});
}

const Exercise scaled_dot_product_exercise(
    "scaled_dot_product", grade_scaled_dot_product, {scaled_dot_product},
    {{"", masked<[](const Attention& a) { return a.mean(a.scores()); }>},
     {"The mask is ignored: every query reads every key.",
      masked<[](const Attention& a) { return matmul(softmax(a.scores()), a.v); }>},
     {"The mask is the wrong way round: hidden keys are read, kept ones are not.",
      masked<[](const Attention& a) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return matmul(softmax(masked_fill(a.scores(), a.keep, -infinity)), a.v);
      }>},
     {"Hidden keys have the score 0, whose exponential is 1: they are still read. The score must "
      "be -∞.",
      masked<[](const Attention& a) { return matmul(softmax(a.hidden(a.scores(), 0)), a.v); }>},
     {"The mask acts after the softmax: the weights of the kept keys do not add up to 1.",
      masked<[](const Attention& a) { return matmul(a.hidden(softmax(a.scores()), 0), a.v); }>},
     {"The scores are not scaled: q · k must be divided by √K.",
      masked<[](const Attention& a) { return a.mean(a.products()); }>},
     {"The scores are divided by K, not by its root.",
      masked<[](const Attention& a) { return a.mean(a.scores() / a.root()); }>},
     {"The scores are multiplied by √K, not divided.",
      masked<[](const Attention& a) { return a.mean(a.products() * a.root()); }>},
     {"The scores are negated: keys that fit a query less get the larger weights.",
      masked<[](const Attention& a) { return a.mean(-a.scores()); }>},
     {"The scores are qᵀ k, (K, K): products of the columns. They are products of the rows, q kᵀ, "
      "(Tq, Tk).",
      masked<[](const Attention& a) {
        return a.mean(matmul(transpose(a.q, 0, 1), a.k) / a.root());
      }>},
     {"The scores are divided by √Tq, the root of the number of queries: q.dim(0) is not the "
      "width.",
      masked<[](const Attention& a) {
        return a.mean(a.products() / std::sqrt(static_cast<double>(a.q.dim(0))));
      }>},
     {"The scores are divided by √Tk, the root of the number of keys.",
      masked<[](const Attention& a) {
        return a.mean(a.products() / std::sqrt(static_cast<double>(a.k.dim(0))));
      }>},
     {"The scores are divided by √V, the root of the width of the values.",
      masked<[](const Attention& a) {
        return a.mean(a.products() / std::sqrt(static_cast<double>(a.v.dim(1))));
      }>},
     {"The softmax runs over the queries: each column adds up to 1, but each row must.",
      masked<[](const Attention& a) { return matmul(softmax(a.hidden(a.scores()), 0), a.v); }>},
     {"The exponentials are not divided by their sum.",
      masked<[](const Attention& a) { return matmul(exp(a.hidden(a.scores())), a.v); }>},
     {"These are the weights, (Tq, Tk). The result is the mean of the values with these weights.",
      masked<[](const Attention& a) { return softmax(a.hidden(a.scores())); }>},
     {"That is the library's own function. Compose yours from smaller operations.",
      masked<[](const Attention& a) {
        const Ids keep = a.keep.reshape({1, 1, a.keep.dim(0), a.keep.dim(1)});
        return library_attention(a.q, a.k, a.v, {.dense = keep});
      }>}});

}  // namespace scaled_dot_product_answers
}  // namespace
}  // namespace heed::course
