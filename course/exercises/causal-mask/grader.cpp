#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v);

void grade_causal_mask(Grader& g, decltype(&causal_attention) answer) {
  const auto check = [&](int64_t queries, int64_t keys, int64_t width, int64_t value_width,
                         double high, bool differentiable) {
    // Query i attends to the keys up to i + keys - queries, and is 0 if there are none.
    const auto definition = [=](Arrays x, const Index& i) {
      const auto score = [&](int64_t j) {
        const double dot = sum_over(width, [&](int64_t c) {
          return x[0](i.with(1, c)) * x[1](Index{{j, c}, 2});
        });
        return dot / std::sqrt(static_cast<double>(width));
      };
      const int64_t count = i[0] + keys - queries + 1;
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t j = 0; j < count; ++j) largest = std::max(largest, score(j));
      const auto e = [&](int64_t j) { return std::exp(score(j) - largest); };
      const double total = sum_over(count, e);
      return sum_over(count, [&](int64_t j) { return e(j) / total * x[2](i.with(0, j)); });
    };
    g.check({.name = fmt::format("attention of q {}, k {}, v {}", Shape{queries, width},
                                 Shape{keys, width}, Shape{keys, value_width}),
             .inputs = {{queries, width}, {keys, width}, {keys, value_width}},
             .result = {queries, value_width},
             .op = [=](Tensors x) { return answer(x[0], x[1], x[2]); },
             .definition = definition,
             .low = -high,
             .high = high,
             .arguments = {"q", "k", "v"},
             .differentiable = differentiable});
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
  g.expect(!uses_operation("scaled_dot_product_attention",
                           [=] {
                             const Tensor x = Tensor::zeros({2, 2});
                             answer(x, x, x);
                           }),
           "calls scaled_dot_product_attention");
}

namespace {
namespace causal_mask_answers {

constexpr double no_score = -std::numeric_limits<double>::infinity();

// Returns whether a key is hidden from the query number `query`, which is at `position` of the
// keys.
using Hides = bool (*)(int64_t position, int64_t query, int64_t key);
bool later(int64_t position, int64_t, int64_t key) { return key > position; }
bool own_and_later(int64_t position, int64_t, int64_t key) { return key >= position; }
bool everything(int64_t position, int64_t, int64_t) { return position < 0; }

struct Causal {
  const Tensor &q, &k, &v;

  double width() const { return static_cast<double>(k.dim(1)); }
  double keys() const { return static_cast<double>(k.dim(0)); }
  Tensor scores() const { return matmul(q, transpose(k, 0, 1)) / std::sqrt(width()); }
  Tensor covered(const Tensor& of, double value, Hides hides = later) const {
    Ids hidden = Ids::full({q.dim(0), k.dim(0)}, 0);
    for (int64_t i = 0; i < q.dim(0); ++i)
      for (int64_t j = 0; j < k.dim(0); ++j)
        hidden.mutable_data()[i * k.dim(0) + j] = hides(i + k.dim(0) - q.dim(0), i, j);
    return masked_fill(of, hidden, value);
  }
  // What is added to the scores of later keys.
  Tensor bias(double value) const { return covered(Tensor::zeros({q.dim(0), k.dim(0)}), value); }
  Tensor attend(const Tensor& of) const { return matmul(softmax(of), v); }
  Tensor attend_without(Hides hides) const { return attend(covered(scores(), no_score, hides)); }
  Tensor attend_with_factor(double factor) const {
    return attend(covered(scores() * factor, no_score));
  }
};

// exp(s - max) / Σ, which is NaN for a row of -∞
Tensor plain_softmax(const Tensor& s) {
  const Tensor e = exp(s - max(s, {1}, true));
  return e / sum(e, {1}, true);
}

template <auto attend>
Tensor causal(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attend(Causal{q, k, v});
}

const Exercise causal_mask_exercise(
    "causal_mask", grade_causal_mask, {causal_attention},
    {{"", causal<[](const Causal& c) { return c.attend_without(later); }>},
     {"A query with nothing to attend to gives NaN, from -∞ - (-∞) or 0/0. Its output is the empty "
      "sum, zero.",
      causal<[](const Causal& c) {
        return matmul(plain_softmax(c.covered(c.scores(), no_score)), c.v);
      }>},
     {"A query with nothing to attend to gets the plain mean of all values, although all are "
      "hidden from it: if every score is the same large negative number, the weights are equal. "
      "Fill with -∞, and give such a row the weights 0.",
      causal<[](const Causal& c) { return c.attend(c.covered(c.scores(), -1e9)); }>},
     {"A query with nothing to attend to attends to what is hidden: adding a large negative number "
      "to all scores of a row changes nothing in its softmax.",
      causal<[](const Causal& c) { return c.attend(c.scores() + c.bias(-1e4)); }>},
     {"A query with nothing to attend to reads key 0 instead.", causal<[](const Causal& c) {
        return c.attend_without(
            [](int64_t position, int64_t, int64_t key) { return key > position && key > 0; });
      }>},
     {"A query does not attend to its own position: the mask hides j ≥ position, it must hide j > "
      "position.",
      causal<[](const Causal& c) { return c.attend_without(own_and_later); }>},
     {"A query does not attend to its own position: the mask hides j ≥ position, it must hide j > "
      "position.",
      causal<[](const Causal& c) { return c.attend(c.covered(c.scores(), -1e9, own_and_later)); }>},
     {"A query does not attend to its own position: the mask hides j ≥ position, it must hide j > "
      "position.",
      causal<[](const Causal& c) {
        return matmul(plain_softmax(c.covered(c.scores(), no_score, own_and_later)), c.v);
      }>},
     {"A query does not attend to its own position: the mask hides j ≥ position, it must hide j > "
      "position.",
      causal<[](const Causal& c) {
        const Tensor none = Tensor::zeros({c.q.dim(0), c.k.dim(0)});
        return c.attend(c.scores() + c.covered(none, -1e4, own_and_later));
      }>},
     {"Queries and keys are aligned at their beginnings: query i attends to keys up to i. Aligned "
      "at their ends it is i + Tk - Tq.",
      causal<[](const Causal& c) {
        return c.attend_without([](int64_t, int64_t query, int64_t key) { return key > query; });
      }>},
     {"The mask is reversed: it hides earlier keys and keeps the later ones.",
      causal<[](const Causal& c) {
        return c.attend_without(
            [](int64_t position, int64_t, int64_t key) { return key < position; });
      }>},
     {"The mask keeps exactly the keys that it must hide.", causal<[](const Causal& c) {
        return c.attend_without(
            [](int64_t position, int64_t, int64_t key) { return key <= position; });
      }>},
     {"Every query attends to every key: there is no mask.",
      causal<[](const Causal& c) { return c.attend(c.scores()); }>},
     {"The mask acts after the softmax: weights of hidden keys are 0, but they are still in the "
      "sum, so the others do not add up to 1. Mask the scores.",
      causal<[](const Causal& c) { return matmul(c.covered(softmax(c.scores()), 0), c.v); }>},
     {"exp overflows for large scores, and ∞ / ∞ is NaN. Subtract the maximum of each row first.",
      causal<[](const Causal& c) {
        const Tensor e = exp(c.covered(c.scores(), no_score));
        const Tensor total = sum(e, {1}, true);
        return matmul(c.covered(e / (total + c.covered(0 * e, 1, everything)), 0), c.v);
      }>},
     {"Hidden scores are 0, and e⁰ is 1: hidden keys get weights. They must be -∞.",
      causal<[](const Causal& c) { return c.attend(c.covered(c.scores(), 0)); }>},
     {"The scores are not divided by √K.",
      causal<[](const Causal& c) { return c.attend_with_factor(std::sqrt(c.width())); }>},
     {"The scores are divided by K, not by its root.",
      causal<[](const Causal& c) { return c.attend_with_factor(1 / std::sqrt(c.width())); }>},
     {"The scores are divided by the root of the number of keys. K is the width of a key.",
      causal<[](const Causal& c) {
        return c.attend_with_factor(std::sqrt(c.width() / c.keys()));
      }>},
     {"The scores are negated: keys that fit a query less get the larger weights.",
      causal<[](const Causal& c) { return c.attend_with_factor(-1); }>},
     {"The result is right, but the gradient of every key is NaN: backward still computes with the "
      "-∞ of a row without keys. Covering the result afterwards is not enough; avoid -∞ - (-∞) in "
      "the first place.",
      causal<[](const Causal& c) {
        return matmul(c.covered(plain_softmax(c.scores() + c.bias(no_score)), 0), c.v);
      }>},
     {"That is the library's own function. Compose yours from smaller operations.",
      causal<[](const Causal& c) { return library_attention(c.q, c.k, c.v, {.causal = true}); }>}});

}  // namespace causal_mask_answers
}  // namespace
}  // namespace heed::course
