#include "course/grader/grader.h"

#include <cmath>
#include <limits>
#include <span>

#include "core/joined.h"

namespace heed::course {

[[gnu::weak]] Tensor learned_query(const Tensor& x, const Ids& lengths, const Tensor& queries,
                                   const Tensor& wk, const Tensor& wv);

void grade_learned_query(Grader& g, decltype(&learned_query) answer) {
  const auto check = [&](const Ids& lengths, int64_t time, int64_t dim, int64_t count,
                         int64_t width, int64_t value_width) {
    const int64_t batch = lengths.size();
    const auto at = [](auto... axes) { return Index{{axes...}, sizeof...(axes)}; };
    // exp(key t of bag b · query n / √K), and element c of its value
    const auto exponential = [=](Arrays x, int64_t b, int64_t n, int64_t t) {
      const double dot = sum_over(width, [&](int64_t k) {
        return x[1](at(n, k)) *
               sum_over(dim, [&](int64_t d) { return x[2](at(k, d)) * x[0](at(b, t, d)); });
      });
      return std::exp(dot / std::sqrt(static_cast<double>(width)));
    };
    const auto value = [=](Arrays x, int64_t b, int64_t t, int64_t c) {
      return sum_over(dim, [&](int64_t d) { return x[3](at(c, d)) * x[0](at(b, t, d)); });
    };
    const auto definition = [=](Arrays x, const Index& i) {
      double total = 0, result = 0;
      for (int64_t t = 0; t < lengths[i[0]]; ++t) {
        const double f = exponential(x, i[0], i[1], t);
        total += f;
        result += f * value(x, i[0], t, i[2]);
      }
      return total > 0 ? result / total : 0;
    };
    g.check({.name = fmt::format("{} queries, x [{}, {}, {}], lengths {}", count, batch, time, dim,
                                 joined(std::span(lengths.data(), static_cast<size_t>(batch)))),
             .inputs = {{batch, time, dim}, {count, width}, {width, dim}, {value_width, dim}},
             .result = {batch, count, value_width},
             .op = [=](Tensors x) { return answer(x[0], lengths, x[1], x[2], x[3]); },
             .definition = definition,
             .low = -1.2,
             .high = 1.2,
             .arguments = {"x", "queries", "wk", "wv"}});
  };
  const auto lengths = [&](int64_t time) {  // of a full bag and of others
    return Ids::from({3}, {static_cast<int32_t>(g.size(1, time - 2)), static_cast<int32_t>(time),
                           static_cast<int32_t>(time - 1)});
  };
  const int64_t time = g.size(4, 5);
  check(lengths(time), time, 3, 2, g.size(4, 5), g.size(6, 7));
  check(Ids::from({2}, {2, 0}), 3, 2, 3, 4, g.size(5, 6));
  check(Ids::from({1}, {1}), 1, g.size(1, 2), 1, 1, g.size(1, 3));
}

namespace {
namespace learned_query_answers {

struct Bags {
  const Tensor& x;
  const Ids& lengths;
  const Tensor &queries, &wk, &wv;

  double width() const { return static_cast<double>(wk.dim(0)); }
  Tensor values() const { return linear(x, wv); }
  Tensor scores() const { return scores(width()); }
  Tensor scores(double squared_scale) const {
    return matmul(queries, transpose(linear(x, wk), 1, 2)) / std::sqrt(squared_scale);
  }
  // Fills the padding with `value`.
  Tensor covered(const Tensor& of, double value) const {
    Ids padding = Ids::empty({x.dim(0), 1, x.dim(1)});
    for (int64_t i = 0; i < padding.size(); ++i)
      padding.mutable_data()[i] = i % x.dim(1) >= lengths[i / x.dim(1)];
    return masked_fill(of, padding, value);
  }
  Tensor weights(const Tensor& of) const {
    return softmax(covered(of, -std::numeric_limits<double>::infinity()));
  }
  Tensor mean(double squared_scale) const {
    return matmul(weights(scores(squared_scale)), values());
  }
};

template <auto read>
Tensor bags(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
            const Tensor& wv) {
  return read(Bags{x, lengths, queries, wk, wv});
}

const Exercise learned_query_exercise(
    "learned_query", grade_learned_query, {learned_query},
    {{"", bags<[](const Bags& b) { return b.mean(b.width()); }>},
     {"The padding is read: rows from lengths[b] on do not belong to bag b.",
      bags<[](const Bags& b) { return matmul(softmax(b.scores()), b.values()); }>},
     {"Every bag is read up to the length of the first: lengths[0].", bags<[](const Bags& b) {
        const Ids first = Ids::full({b.x.dim(0)}, b.lengths[0]);
        return Bags{b.x, first, b.queries, b.wk, b.wv}.mean(b.width());
      }>},
     {"The padding is hidden after the softmax: the weights of a bag do not add up to 1. Hide it "
      "in the scores.",
      bags<[](const Bags& b) { return matmul(b.covered(softmax(b.scores()), 0), b.values()); }>},
     {"The padding has the score 0, whose exponential is 1: it is still read. The score must be "
      "-∞.",
      bags<[](const Bags& b) { return matmul(softmax(b.covered(b.scores(), 0)), b.values()); }>},
     {"The scores are not scaled: q · k must be divided by √K.",
      bags<[](const Bags& b) { return b.mean(1); }>},
     {"The scores are divided by √D. It is √K, the width of the queries and keys.",
      bags<[](const Bags& b) { return b.mean(static_cast<double>(b.x.dim(2))); }>},
     {"The scores are divided by √N, the root of the number of queries.",
      bags<[](const Bags& b) { return b.mean(static_cast<double>(b.queries.dim(0))); }>},
     {"The scores are divided by K, not by its root.",
      bags<[](const Bags& b) { return b.mean(b.width() * b.width()); }>},
     {"The scores are negated: rows that fit a query less get the larger weights.",
      bags<[](const Bags& b) { return matmul(b.weights(-b.scores()), b.values()); }>},
     {"The softmax runs over the queries: the queries share each row of the bag. Each query must "
      "divide its own weights among the rows.",
      bags<[](const Bags& b) { return matmul(b.covered(softmax(b.scores(), 1), 0), b.values()); }>},
     {"This is the plain mean of the values: the queries do not matter.",
      bags<[](const Bags& b) { return matmul(b.weights(0 * b.scores()), b.values()); }>},
     {"This is the sum over all rows of a bag, without weights.",
      bags<[](const Bags& b) { return matmul(b.covered(0 * b.scores() + 1, 0), b.values()); }>},
     {"The axes of the result are (N, B, V): the bag comes first, then the query.",
      bags<[](const Bags& b) { return transpose(b.mean(b.width()), 0, 1); }>},
     {"These are the weights, (B, N, T). The result is the mean of the values with these weights.",
      bags<[](const Bags& b) { return b.weights(b.scores()); }>}});

}  // namespace learned_query_answers
}  // namespace
}  // namespace heed::course
