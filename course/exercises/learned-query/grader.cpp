#include "course/grader/grader.h"

#include <cmath>
#include <span>

#include "core/joined.h"

namespace heed::course {

[[gnu::weak]] Tensor learned_query(const Tensor& x, const Ids& lengths, const Tensor& queries,
                                   const Tensor& wk, const Tensor& wv);

void grade_learned_query(Grader& g, Tensor (*learned_query)(const Tensor& x, const Ids& lengths,
                                                            const Tensor& queries, const Tensor& wk,
                                                            const Tensor& wv)) {
  const auto check = [&](const Ids& lengths, int64_t time, int64_t dim, int64_t count,
                         int64_t width, int64_t value_width) {
    const int64_t batch = lengths.size();
    const auto at = [](auto... axes) { return Index{{axes...}, sizeof...(axes)}; };
    // Key t of bag b · query n, and element c of its value.
    const auto product = [=](Arrays x, int64_t b, int64_t n, int64_t t) {
      return sum_over(width, [&](int64_t k) {
        return x[1](at(n, k)) *
               sum_over(dim, [&](int64_t d) { return x[2](at(k, d)) * x[0](at(b, t, d)); });
      });
    };
    const auto value = [=](Arrays x, int64_t b, int64_t t, int64_t c) {
      return sum_over(dim, [&](int64_t d) { return x[3](at(c, d)) * x[0](at(b, t, d)); });
    };
    const auto length = [=](int64_t b) { return static_cast<int64_t>(lengths[b]); };
    const auto all = [=](int64_t) { return time; };
    // The mean of the first rows of a bag, as many as count_of says, with exponentials of the
    // scores.
    const auto mean_of = [=](auto count_of, double scale) {
      return [=](Arrays x, const Index& i) {
        double total = 0, result = 0;
        for (int64_t t = 0; t < count_of(i[0]); ++t) {
          const double f = std::exp(scale * product(x, i[0], i[1], t));
          total += f;
          result += f * value(x, i[0], t, i[2]);
        }
        return total > 0 ? result / total : 0;
      };
    };
    const double root = 1 / std::sqrt(static_cast<double>(width));
    // The weights sum to 1 with other terms in the denominator.
    const auto divided_by = [=](auto total_of) {
      return [=](Arrays x, const Index& i) {
        const auto f = [&](int64_t b, int64_t n, int64_t t) {
          return std::exp(root * product(x, b, n, t));
        };
        return sum_over(length(i[0]), [&](int64_t t) {
          return f(i[0], i[1], t) / total_of(f, i, t) * value(x, i[0], t, i[2]);
        });
      };
    };
    const auto right = mean_of(length, root);
    g.check(
        {.name = fmt::format("{} queries, x [{}, {}, {}], lengths {}", count, batch, time, dim,
                             joined(std::span(lengths.data(), static_cast<size_t>(batch)))),
         .inputs = {{batch, time, dim}, {count, width}, {width, dim}, {value_width, dim}},
         .result = {batch, count, value_width},
         .op = [=](Tensors x) { return learned_query(x[0], lengths, x[1], x[2], x[3]); },
         .definition = right,
         .low = -1.2,
         .high = 1.2,
         .arguments = {"x", "queries", "wk", "wv"}},
        {wrong_value("The padding is read: rows from lengths[b] on do not belong to bag b.",
                     mean_of(all, root)),
         wrong_value("Every bag is read up to the length of the first: lengths[0].",
                     mean_of([=](int64_t) { return length(0); }, root)),
         wrong_value(
             "The padding is hidden after the softmax: the weights of a bag do not add up to "
             "1. Hide it in the scores.",
             divided_by([=](const auto& f, const Index& i, int64_t) {
               return sum_over(time, [&](int64_t s) { return f(i[0], i[1], s); });
             })),
         wrong_value("The padding has the score 0, whose exponential is 1: it is still read. The "
                     "score must be -∞.",
                     [=](Arrays x, const Index& i) {
                       double total = 0, result = 0;
                       for (int64_t t = 0; t < time; ++t) {
                         const double f =
                             t < length(i[0]) ? std::exp(root * product(x, i[0], i[1], t)) : 1;
                         total += f;
                         result += f * value(x, i[0], t, i[2]);
                       }
                       return result / total;
                     }),
         wrong_value("The scores are not scaled: q · k must be divided by √K.", mean_of(length, 1)),
         wrong_value("The scores are divided by √D. It is √K, the width of the queries and keys.",
                     mean_of(length, 1 / std::sqrt(static_cast<double>(dim)))),
         wrong_value("The scores are divided by √N, the root of the number of queries.",
                     mean_of(length, 1 / std::sqrt(static_cast<double>(count)))),
         wrong_value("The scores are divided by K, not by its root.", mean_of(length, root * root)),
         wrong_value("The softmax runs over the queries: the queries share each row of the bag. "
                     "Each query must divide its own weights among the rows.",
                     divided_by([=](const auto& f, const Index& i, int64_t t) {
                       return sum_over(count, [&](int64_t n) { return f(i[0], n, t); });
                     })),
         wrong_value("This is the plain mean of the values: the queries do not matter.",
                     mean_of(length, 0)),
         wrong_value("This is the sum over all rows of a bag, without weights.",
                     [=](Arrays x, const Index& i) {
                       return sum_over(length(i[0]),
                                       [&](int64_t t) { return value(x, i[0], t, i[2]); });
                     }),
         wrong_value(
             "The axes of the result are (N, B, V): the bag comes first, then the query.",
             [=](Arrays x, const Index& i) { return right(x, at(i[1], i[0], i[2])); },
             Shape{count, batch, value_width}),
         wrong_value(
             "These are the weights, (B, N, T). The result is the mean of the values with "
             "these weights.",
             [=](Arrays x, const Index& i) {
               const auto f = [&](int64_t t) { return std::exp(root * product(x, i[0], i[1], t)); };
               return i[2] < length(i[0]) ? f(i[2]) / sum_over(length(i[0]), f) : 0;
             },
             Shape{batch, count, time})});
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
HEED_GRADE(learned_query, learned_query);

}  // namespace heed::course
