#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace heed::course {

[[gnu::weak]] Tensor nucleus(const Tensor& logits, double p);

void grade_top_p(Grader& g, decltype(&nucleus) answer) {
  const auto check = [&](double least, const Shape& shape, std::vector<double> values = {}) {
    // A token is kept if those before it, in the order of their probabilities, have less than p.
    const auto definition = [=](Arrays x, const Index& i) {
      std::vector<double> p;
      double largest = -std::numeric_limits<double>::infinity(), total = 0, kept = 0;
      for (int64_t v = 0; v < shape[1]; ++v) largest = std::max(largest, x[0](i.with(1, v)));
      for (int64_t v = 0; v < shape[1]; ++v)
        total += p.emplace_back(std::exp(x[0](i.with(1, v)) - largest));
      const auto before = [&](size_t v) {
        double sum = 0;
        for (size_t w = 0; w < p.size(); ++w)
          if (p[w] > p[v] || (p[w] == p[v] && w < v)) sum += p[w] / total;
        return sum;
      };
      for (size_t v = 0; v < p.size(); ++v) kept += before(v) < least ? p[v] : 0;
      const auto own = static_cast<size_t>(i[1]);
      return before(own) < least ? p[own] / kept : 0;
    };
    g.check({.name = fmt::format("nucleus of logits {}, p = {:.3g}", shape, least),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return answer(x[0], least); },
             .definition = definition,
             .values = values.empty() ? std::vector<std::vector<double>>{}
                                      : std::vector<std::vector<double>>{std::move(values)},
             .arguments = {"logits"},
             .differentiable = false});
  };
  check(g.number(0.55, 0.65), {3, g.size(8, 10)});
  check(g.number(0.7, 0.8), {2, g.size(5, 7)});
  check(1, {2, g.size(3, 6)});
  const double x = g.number(2, 3);
  check(g.number(0.3, 0.5), {2, 4}, {-1, x + 1, 0, 0.5, x, 0, 1, -x});  // one token has more than p
  check(0.5, {1, 4}, {x, x, x, x});        // ties, and the sum is exactly p
  check(0.6, {1, 4}, {x, x, x, x});        // ties
  check(0.9, {1, 3}, {999, 1000, 998.5});  // e^1000 is infinite, its softmax is not
}

namespace {
namespace top_p_answers {

// A walk through the tokens of a row that may go wrong.
struct Walk {
  bool ascending = false, by_index = false, later_first = false;
  bool without_last = false;  // leaves out the token that reaches p
  bool beyond = false;        // goes on where the sum is p
  bool one_more = false;
  bool divided = true;
};

template <Walk walk>
Tensor walked(const Tensor& logits, double p) {
  const Tensor probabilities = softmax(logits);
  Tensor result = Tensor::zeros(logits.shape());
  const int64_t width = logits.dim(1);
  std::vector<int64_t> order(static_cast<size_t>(width));
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    const real* const row = probabilities.data() + n * width;
    real* const to = result.mutable_data() + n * width;
    std::iota(order.begin(), order.end(), int64_t{0});
    if (walk.later_first) std::reverse(order.begin(), order.end());
    if (!walk.by_index)
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return walk.ascending ? row[a] < row[b] : row[a] > row[b];
      });
    double sum = 0, kept = 0;
    bool more = walk.one_more;
    for (const int64_t v : order) {
      if ((walk.beyond ? sum > p : sum >= p) && !std::exchange(more, false)) break;
      sum += row[v];
      if (walk.without_last && sum > p) break;
      to[v] = row[v];
      kept += row[v];
    }
    if (walk.divided)
      for (int64_t v = 0; v < width; ++v) to[v] /= kept;
  }
  return result;
}

// The probabilities of the tokens that keeps(i) says, divided by their sum.
template <class Keeps>
Tensor shares(const Tensor& of, Keeps keeps) {
  Tensor kept = Tensor::zeros(of.shape());
  for (int64_t i = 0; i < of.size(); ++i) kept.mutable_data()[i] = keeps(i) ? of.data()[i] : 0;
  return kept / sum(kept, {1}, true);
}

const Exercise top_p_exercise(
    "top_p", grade_top_p, {nucleus},
    {{"", walked<Walk{}>},
     {"No token is left out: this is the softmax.",
      [](const Tensor& logits, double) { return softmax(logits); }},
     {"The kept probabilities do not add up to 1: divide them by their sum.",
      walked<Walk{.divided = false}>},
     {"The token with which the sum reaches p is left out. The set's total must be at least p. "
      "If one token has more than p, this leaves nothing.",
      walked<Walk{.without_last = true}>},
     {"Where the sum is exactly p, one more token is kept: a token belongs to the set if the sum "
      "before it is below p.",
      walked<Walk{.beyond = true}>},
     {"One token too many is kept.", walked<Walk{.one_more = true}>},
     {"Of two equally probable tokens, this takes the one with the higher index first.",
      walked<Walk{.later_first = true}>},
     {"The least probable tokens are kept: sort from the most probable one.",
      walked<Walk{.ascending = true}>},
     {"The tokens are added up in the order of their indices: sort them by probability.",
      walked<Walk{.by_index = true}>},
     {"Each token is compared with p separately. The sum of the set must reach p.",
      [](const Tensor& logits, double p) {
        const Tensor all = softmax(logits);
        return shares(all, [&](int64_t i) { return all.data()[i] >= p; });
      }},
     {"The softmax is taken a second time, of the kept probabilities. Divide them by their sum.",
      [](const Tensor& logits, double p) {
        const Tensor kept = walked<Walk{.divided = false}>(logits, p);
        return shares(exp(kept), [&](int64_t i) { return kept.data()[i] > 0; });
      }},
     {"Every row has the tokens of the first row. Each row has its own nucleus.",
      [](const Tensor& logits, double p) {
        const Tensor nuclei = walked<Walk{}>(logits, p);
        return shares(softmax(logits),
                      [&](int64_t i) { return nuclei.data()[i % logits.dim(1)] > 0; });
      }}});

}  // namespace top_p_answers
}  // namespace
}  // namespace heed::course
