#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heed::course {

[[gnu::weak]] Tensor nucleus(const Tensor& logits, double p);

namespace {

std::vector<double> nucleus_softmax(const Array& logits, int64_t row) {
  const int64_t width = logits.shape[1];
  std::vector<double> p;
  for (int64_t v = 0; v < width; ++v)
    p.push_back(logits.values[static_cast<size_t>(row * width + v)]);
  const double maximum = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& x : p) total += x = std::exp(x - maximum);
  for (double& x : p) x /= total;
  return p;
}

std::vector<size_t> nucleus_order(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
  return order;
}

// The kept tokens: keeps(sum before the token, sum with it, whether the one before was kept)
// decides for each token in this order.
template <class Keeps>
std::vector<bool> nucleus_kept(const std::vector<double>& p, const std::vector<size_t>& order,
                               Keeps keeps) {
  std::vector<bool> kept(p.size());
  double sum = 0;
  for (const size_t v : order) {
    kept[v] = keeps(sum, sum + p[v]);
    sum += p[v];
  }
  return kept;
}

std::vector<bool> nucleus_set(const std::vector<double>& p, double least) {
  return nucleus_kept(p, nucleus_order(p), [=](double before, double) { return before < least; });
}

double nucleus_share(const std::vector<double>& p, const std::vector<bool>& kept, int64_t v) {
  double total = 0;
  for (size_t w = 0; w < p.size(); ++w) total += kept[w] ? p[w] : 0;
  return kept[static_cast<size_t>(v)] ? p[static_cast<size_t>(v)] / total
         : total == 0                 ? std::numeric_limits<double>::quiet_NaN()
                                      : 0;
}

// The share of each token, if set(probabilities) are those kept.
template <class Set>
Definition nucleus_with(Set set) {
  return [=](Arrays x, const Index& i) {
    const std::vector<double> p = nucleus_softmax(x[0], i[0]);
    return nucleus_share(p, set(p), i[1]);
  };
}

std::vector<Mistake> nucleus_mistakes(double least) {
  using P = const std::vector<double>&;
  const auto by_order = [](auto keeps) {
    return nucleus_with([=](P p) { return nucleus_kept(p, nucleus_order(p), keeps); });
  };
  return {
      wrong_value("No token is left out: this is the softmax.",
                  nucleus_with([](P p) { return std::vector<bool>(p.size(), true); })),
      wrong_value("The kept probabilities do not add up to 1: divide them by their sum.",
                  [=](Arrays x, const Index& i) {
                    const std::vector<double> p = nucleus_softmax(x[0], i[0]);
                    const auto v = static_cast<size_t>(i[1]);
                    return nucleus_set(p, least)[v] ? p[v] : 0;
                  }),
      wrong_value("The token with which the sum reaches p is left out. The set's total must be at "
                  "least p; where one token has more than p, nothing is left.",
                  by_order([=](double, double with) { return with <= least; })),
      wrong_value("The token with which the sum reaches p is left out. The set's total must be at "
                  "least p.",
                  nucleus_with([=](P p) {
                    auto kept = nucleus_kept(p, nucleus_order(p),
                                             [=](double, double with) { return with <= least; });
                    kept[nucleus_order(p)[0]] = true;
                    return kept;
                  })),
      wrong_value("Where the sum is exactly p, one more token is kept: a token belongs to the set "
                  "if the sum before it is below p.",
                  by_order([=](double before, double) { return before <= least; })),
      wrong_value("One token too many is kept.", nucleus_with([=](P p) {
                    auto kept = nucleus_set(p, least);
                    for (const size_t v : nucleus_order(p))
                      if (!kept[v]) {
                        kept[v] = true;
                        break;
                      }
                    return kept;
                  })),
      wrong_value("Of equally probable tokens the one with the higher index is taken first.",
                  nucleus_with([=](P p) {
                    std::vector<size_t> order(p.size());
                    std::iota(order.rbegin(), order.rend(), size_t{0});
                    std::stable_sort(order.begin(), order.end(),
                                     [&](size_t a, size_t b) { return p[a] > p[b]; });
                    return nucleus_kept(p, order,
                                        [=](double before, double) { return before < least; });
                  })),
      wrong_value("The least probable tokens are kept: sort from the most probable one.",
                  nucleus_with([=](P p) {
                    auto order = nucleus_order(p);
                    std::reverse(order.begin(), order.end());
                    return nucleus_kept(p, order,
                                        [=](double before, double) { return before < least; });
                  })),
      wrong_value(
          "The tokens are added up in the order of their indices: sort them by probability.",
          nucleus_with([=](P p) {
            std::vector<size_t> order(p.size());
            std::iota(order.begin(), order.end(), size_t{0});
            return nucleus_kept(p, order, [=](double before, double) { return before < least; });
          })),
      wrong_value("Each token is compared with p on its own. The sum of the set must reach p.",
                  nucleus_with([=](P p) {
                    std::vector<bool> kept;
                    for (const double x : p) kept.push_back(x >= least);
                    return kept;
                  })),
      wrong_value("The softmax is taken a second time, of the kept probabilities. Divide them by "
                  "their sum.",
                  [=](Arrays x, const Index& i) {
                    const std::vector<double> p = nucleus_softmax(x[0], i[0]);
                    const std::vector<bool> kept = nucleus_set(p, least);
                    double total = 0;
                    for (size_t v = 0; v < p.size(); ++v) total += kept[v] ? std::exp(p[v]) : 0;
                    const auto v = static_cast<size_t>(i[1]);
                    return kept[v] ? std::exp(p[v]) / total : 0;
                  }),
      wrong_value("Every row has the tokens of the first row: each has a nucleus of its own.",
                  [=](Arrays x, const Index& i) {
                    return nucleus_share(nucleus_softmax(x[0], i[0]),
                                         nucleus_set(nucleus_softmax(x[0], 0), least), i[1]);
                  }),
  };
}

}  // namespace

void grade_top_p(Grader& g, Tensor (*nucleus)(const Tensor& logits, double p)) {
  const auto check = [&](double least, const Shape& shape, std::vector<double> values = {}) {
    g.check({.name = fmt::format("nucleus of logits {}, p = {:.3g}", shape, least),
             .inputs = {shape},
             .result = shape,
             .op = [=](Tensors x) { return nucleus(x[0], least); },
             .definition =
                 nucleus_with([=](const std::vector<double>& p) { return nucleus_set(p, least); }),
             .values = values.empty() ? std::vector<std::vector<double>>{}
                                      : std::vector<std::vector<double>>{std::move(values)},
             .arguments = {"logits"},
             .differentiable = false},
            nucleus_mistakes(least));
  };
  check(g.number(0.55, 0.65), {3, g.size(8, 10)});
  check(g.number(0.7, 0.8), {2, g.size(5, 7)});
  check(1, {2, g.size(3, 6)});
  const double x = g.number(2, 3);
  check(g.number(0.3, 0.5), {2, 4}, {-1, x + 1, 0, 0.5, x, 0, 1, -x});  // one token has more than p
  check(0.5, {1, 4}, {x, x, x, x});  // ties, and the sum is exactly p
  check(0.6, {1, 4}, {x, x, x, x});  // ties
  // e^1000 is infinite, its softmax is not. A NaN would look like the mistakes that keep nothing.
  g.check(
      {.name = "nucleus of logits [1, 3], p = 0.9",
       .inputs = {{1, 3}},
       .result = {1, 3},
       .op = [=](Tensors logits) { return nucleus(logits[0], 0.9); },
       .definition = nucleus_with([](const std::vector<double>& p) { return nucleus_set(p, 0.9); }),
       .values = {{999, 1000, 998.5}},
       .differentiable = false});
}
HEED_GRADE(top_p, nucleus);

}  // namespace heed::course
