#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v);

namespace {

constexpr double causal_hidden = -std::numeric_limits<double>::infinity();

// One example: inputs q, k, v, and which keys a query may attend to.
struct CausalExample {
  Arrays x;
  bool (*keeps)(int64_t position, int64_t query, int64_t key);

  int64_t queries() const { return x[0].shape[0]; }
  int64_t keys() const { return x[1].shape[0]; }
  double value(int64_t j, int64_t column) const {
    return x[2].values[static_cast<size_t>(j * x[2].shape[1] + column)];
  }
  bool allows(int64_t i, int64_t j) const { return keeps(i + keys() - queries(), i, j); }
  double score(int64_t i, int64_t j) const {
    const int64_t width = x[0].shape[1];
    const double dot = sum_over(width, [&](int64_t c) {
      return x[0].values[static_cast<size_t>(i * width + c)] *
             x[1].values[static_cast<size_t>(j * width + c)];
    });
    return dot / std::sqrt(static_cast<double>(width));
  }
};

bool causal_keeps(int64_t position, int64_t, int64_t key) { return key <= position; }

// y[i] of a query whose weights are exponentials of `exponent(example, query, key)` divided by
// their sum; `empty` is the weight of each key if all of them are hidden.
template <class Exponent>
Definition causal_attention_with(bool (*keeps)(int64_t, int64_t, int64_t), Exponent exponent,
                                 double empty = 0) {
  return [=](Arrays x, const Index& i) {
    const CausalExample example{x, keeps};
    double maximum = causal_hidden;
    for (int64_t j = 0; j < example.keys(); ++j)
      maximum = std::max(maximum, exponent(example, i[0], j));
    const auto e = [&](int64_t j) { return std::exp(exponent(example, i[0], j) - maximum); };
    const double sum = sum_over(example.keys(), e);
    return sum_over(example.keys(), [&](int64_t j) {
      return (maximum == causal_hidden ? empty : e(j) / sum) * example.value(j, i[1]);
    });
  };
}

double causal_score(const CausalExample& example, int64_t i, int64_t j) {
  return example.allows(i, j) ? example.score(i, j) : causal_hidden;
}

std::vector<Mistake> causal_mistakes(int64_t keys) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto scaled_by = [](auto factor) {
    return [=](const CausalExample& e, int64_t i, int64_t j) {
      return e.allows(i, j) ? factor(e) * e.score(i, j) : causal_hidden;
    };
  };
  const auto width = [](const CausalExample& e) { return static_cast<double>(e.x[0].shape[1]); };
  return {
      wrong_value("A query with nothing to attend to gives NaN, from -∞ - (-∞) or 0/0. Its output "
                  "is the empty sum, zero.",
                  causal_attention_with(causal_keeps, causal_score, nan)),
      wrong_value("A query with nothing to attend to takes the plain mean of all values, which are "
                  "all hidden from it: scores filled with a large negative number are equal there. "
                  "Fill with -∞, and give such a row the weights 0.",
                  causal_attention_with(causal_keeps, causal_score, 1 / static_cast<double>(keys))),
      wrong_value("A query with nothing to attend to attends to what is hidden: adding a large "
                  "negative number to all scores of a row changes nothing in its softmax.",
                  causal_attention_with(causal_keeps,
                                        [](const CausalExample& e, int64_t i, int64_t j) {
                                          return e.allows(i, 0) ? causal_score(e, i, j)
                                                                : e.score(i, j);
                                        })),
      wrong_value("A query with nothing to attend to reads key 0 instead.",
                  causal_attention_with([](int64_t position, int64_t,
                                           int64_t key) { return key <= position || key == 0; },
                                        causal_score)),
      wrong_value(
          "A query does not attend to its own position: the mask hides j ≥ position, it "
          "must hide j > position.",
          causal_attention_with(
              [](int64_t position, int64_t, int64_t key) { return key < position; }, causal_score)),
      wrong_value(
          "Queries and keys are aligned at their beginnings: query i attends to keys up to "
          "i. Aligned at their ends it is i + Tk - Tq.",
          causal_attention_with([](int64_t, int64_t query, int64_t key) { return key <= query; },
                                causal_score)),
      wrong_value("The mask is reversed: it hides earlier keys and keeps the later ones.",
                  causal_attention_with(
                      [](int64_t position, int64_t, int64_t key) { return key >= position; },
                      causal_score)),
      wrong_value(
          "The mask keeps exactly the keys that it must hide.",
          causal_attention_with(
              [](int64_t position, int64_t, int64_t key) { return key > position; }, causal_score)),
      wrong_value(
          "Every query attends to every key: there is no mask.",
          causal_attention_with([](int64_t, int64_t, int64_t) { return true; }, causal_score)),
      wrong_value(
          "The mask acts after the softmax: weights of hidden keys are 0, but they are still "
          "in the sum, so the others do not add up to 1. Mask the scores.",
          [](Arrays x, const Index& i) {
            const CausalExample example{x, causal_keeps};
            const auto e = [&](int64_t j) { return std::exp(example.score(i[0], j)); };
            const double sum = sum_over(example.keys(), e);
            return sum_over(example.keys(), [&](int64_t j) {
              return example.allows(i[0], j) ? e(j) / sum * example.value(j, i[1]) : 0;
            });
          }),
      wrong_value("exp overflows for large scores, and ∞ / ∞ is NaN. Subtract the maximum of each "
                  "row first.",
                  [](Arrays x, const Index& i) {
                    const CausalExample example{x, causal_keeps};
                    const auto e = [&](int64_t j) {
                      return std::exp(causal_score(example, i[0], j));
                    };
                    const double sum = sum_over(example.keys(), e);
                    return sum_over(example.keys(),
                                    [&](int64_t j) { return e(j) / sum * example.value(j, i[1]); });
                  }),
      wrong_value("Hidden scores are 0, and e⁰ is 1: hidden keys get weights. They must be -∞.",
                  causal_attention_with(causal_keeps,
                                        [](const CausalExample& e, int64_t i, int64_t j) {
                                          return e.allows(i, j) ? e.score(i, j) : 0;
                                        })),
      wrong_value("The scores are not divided by √K.",
                  causal_attention_with(causal_keeps, scaled_by([=](const CausalExample& e) {
                                          return std::sqrt(width(e));
                                        }))),
      wrong_value("The scores are divided by K, not by its root.",
                  causal_attention_with(causal_keeps, scaled_by([=](const CausalExample& e) {
                                          return 1 / std::sqrt(width(e));
                                        }))),
      wrong_value("The scores are divided by the root of the number of keys. K is the width of a "
                  "key.",
                  causal_attention_with(causal_keeps, scaled_by([=](const CausalExample& e) {
                                          return std::sqrt(width(e) /
                                                           static_cast<double>(e.keys()));
                                        }))),
      wrong_gradient(
          "k",
          "The result is right, but the gradient of every key is NaN: backward still "
          "computes with the -∞ of a row without keys. Covering the result afterwards is "
          "not enough; avoid -∞ - (-∞) in the first place.",
          [=](Arrays, const Array&, const Index&) { return nan; }),
  };
}

}  // namespace

void grade_causal_mask(Grader& g, Tensor (*causal_attention)(const Tensor& q, const Tensor& k,
                                                             const Tensor& v)) {
  const auto check = [&](int64_t queries, int64_t keys, int64_t width, int64_t value_width,
                         double high, bool differentiable) {
    g.check({.name = fmt::format("attention of q {}, k {}, v {}", Shape{queries, width},
                                 Shape{keys, width}, Shape{keys, value_width}),
             .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
             .result = {queries, value_width},
             .op = [=](Tensors x) { return causal_attention(x[0], x[1], x[2]); },
             .definition = causal_attention_with(causal_keeps, causal_score),
             .low = -high,
             .high = high,
             .arguments = {"q", "k", "v"},
             .differentiable = differentiable},
            causal_mistakes(keys));
  };
  const int64_t length = g.size(3, 5);
  check(length, length, g.size(6, 7), g.size(2, 3), 1, true);
  const int64_t few = g.size(2, 3);  // queries, and at least two more keys
  check(few, few + g.size(2, 3), g.size(6, 7), 1, 1, true);
  check(g.size(5, 7), g.size(2, 4), g.size(6, 7), g.size(2, 3), 1, true);  // some see nothing
  check(1, 1, 3, 2, 2, true);
  check(4, 1, 2, 1, 2, true);
  // exp overflows unless the maximum is subtracted.
  check(5, 5, 4, 2, 60, false);
}
HEED_GRADE(causal_mask, causal_attention);

}  // namespace heed::course
