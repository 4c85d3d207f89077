// Another right answer to the exercise graph-step, and what only running shows.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

Tensor edge_scores(const Tensor& q, const Tensor& k, const Tensor& edge, const Ids& sender,
                   const Ids& receiver) {
  const Tensor products = embedding(q, receiver) * (embedding(k, sender) + edge);
  return sum(products, {1}) / std::sqrt(static_cast<real>(q.dim(1)));
}

// A softmax by exponentials, each divided by the total of its node; with the maximum of all scores
// subtracted, or without.
template <bool subtracts>
Tensor by_exponentials(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                       const Ids& sender, const Ids& receiver) {
  Tensor score = edge_scores(q, k, edge, sender, receiver);
  if (subtracts) score = score - max(score);
  const Tensor f = exp(score).reshape({score.size(), 1});
  const Tensor total = embedding(segment_sum(f, receiver, v.dim(0)), receiver);
  return segment_sum(f / total * embedding(v, sender), receiver, v.dim(0));
}

}  // namespace

TEST_CASE("exercise graph-step: one node after the other passes") {
  const auto step = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                       const Ids& sender, const Ids& receiver) {
    std::vector<Tensor> outputs;
    for (int64_t i = 0; i < q.dim(0); ++i) {
      std::vector<Tensor> keys, values;
      for (int64_t e = 0; e < sender.size(); ++e) {
        if (receiver[e] != i) continue;
        const int64_t s = sender[e];
        keys.push_back(slice(k, 0, s, s + 1) + slice(edge, 0, e, e + 1));
        values.push_back(slice(v, 0, s, s + 1));
      }
      const Tensor query = slice(q, 0, i, i + 1) / std::sqrt(static_cast<real>(q.dim(1)));
      outputs.push_back(keys.empty()
                            ? 0 * slice(v, 0, i, i + 1)
                            : matmul(softmax(matmul(query, transpose(concat(keys, 0), 0, 1))),
                                     concat(values, 0)));
    }
    return concat(outputs, 0);
  };
  CHECK(course::verdict("graph_step", step) == "");
}

TEST_CASE("exercise graph-step: overflow, division by 0 and a lost gradient are named") {
  CHECK_SAYS("subtract the maximum", "graph_step", by_exponentials<false>);
  CHECK_SAYS("subtract the maximum", "graph_step", by_exponentials<true>);
  CHECK_SAYS(
      "Not a number", "graph_step",  // 0 / 0 for a node without edges
      [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge, const Ids& sender,
         const Ids& receiver) {
        const Tensor f = exp(edge_scores(q, k, edge, sender, receiver)).reshape({edge.dim(0), 1});
        return segment_sum(f * embedding(v, sender), receiver, v.dim(0)) /
               segment_sum(f, receiver, v.dim(0));
      });
  CHECK_SAYS("does not know how it was computed", "graph_step",
             [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                const Ids& sender, const Ids& receiver) {
               const Tensor score = edge_scores(q, k, edge, sender, receiver);
               const Tensor weight = segment_softmax(score, receiver, q.dim(0));
               const Tensor message = weight.reshape({weight.size(), 1}) * embedding(v, sender);
               return segment_sum(message, receiver, q.dim(0)).detach();
             });
}
