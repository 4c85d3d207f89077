// The exercise graph-step: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_graph_step(Grader& g, Tensor (*graph_step)(const Tensor& q, const Tensor& k,
                                                      const Tensor& v, const Tensor& edge,
                                                      const Ids& sender, const Ids& receiver));

namespace {

namespace graph_step_stub {
using namespace heed;
#include "course/exercises/graph-step/exercise.cpp"
}  // namespace graph_step_stub

Tensor edge_scores(const Tensor& q, const Tensor& k, const Tensor& edge, const Ids& sender,
                   const Ids& receiver) {
  const Tensor products = embedding(q, receiver) * (embedding(k, sender) + edge);
  return sum(products, {1}) / std::sqrt(static_cast<real>(q.dim(1)));
}

// Σ weight · v[sender] into each receiver
Tensor collected(const Tensor& weight, const Tensor& v, const Ids& sender, const Ids& receiver) {
  return segment_sum(weight.reshape({weight.size(), 1}) * embedding(v, sender), receiver, v.dim(0));
}

Tensor step_by_segments(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                        const Ids& sender, const Ids& receiver) {
  const Tensor score = edge_scores(q, k, edge, sender, receiver);
  return collected(segment_softmax(score, receiver, q.dim(0)), v, sender, receiver);
}

Tensor degrees_of_nodes(const Ids& receiver, int64_t nodes) {
  return segment_sum(Tensor::full({receiver.size(), 1}, 1), receiver, nodes);
}

// With the scores multiplied by √K to a power.
template <int power>
Tensor scaled_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                   const Ids& sender, const Ids& receiver) {
  const double factor = std::pow(std::sqrt(static_cast<double>(q.dim(1))), power);
  return step_by_segments(q * static_cast<real>(factor), k, v, edge, sender, receiver);
}

// A softmax without the maximum of each segment, which `shift` may make up for.
template <class Shift>
Tensor step_by_exponentials(const Tensor& score, const Tensor& v, const Ids& sender,
                            const Ids& receiver, const Shift& shift) {
  const Tensor f = exp(score - shift).reshape({score.size(), 1});
  const Tensor total = segment_sum(f, receiver, v.dim(0));
  return segment_sum(f / embedding(total, receiver) * embedding(v, sender), receiver, v.dim(0));
}

TEST_CASE("exercise graph-step: the solution passes") {
  CHECK(graded(grade_graph_step, step_by_segments) == "");
  // Node by node, with the edges in a loop.
  CHECK(graded(grade_graph_step, [](const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Tensor& edge, const Ids& sender, const Ids& receiver) {
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
        }) == "");
}

TEST_CASE("exercise graph-step: the stub and mistakes of direction are named") {
  CHECK_NAMED("nothing is computed yet", grade_graph_step,
              graph_step_stub::heed::course::graph_step);
  CHECK_NAMED(
      "walked backwards", grade_graph_step,
      [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge, const Ids& sender,
         const Ids& receiver) { return step_by_segments(q, k, v, edge, receiver, sender); });
  CHECK_NAMED("The node that receives asks", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, receiver, sender);
                return collected(segment_softmax(score, receiver, q.dim(0)), v, sender, receiver);
              });
  CHECK_NAMED("a node reads itself", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return collected(segment_softmax(score, receiver, q.dim(0)), v, receiver, receiver);
              });
  CHECK_NAMED("collected at the sender", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return collected(segment_softmax(score, receiver, q.dim(0)), v, sender, sender);
              });
}

TEST_CASE("exercise graph-step: mistakes of the softmax are named") {
  CHECK_NAMED("over all edges", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return collected(softmax(score, 0), v, sender, receiver);
              });
  CHECK_NAMED("that leave a node", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return collected(segment_softmax(score, sender, q.dim(0)), v, sender, receiver);
              });
  CHECK_NAMED("not divided by their sum", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return collected(exp(score), v, sender, receiver);
              });
  CHECK_NAMED(
      "the plain mean", grade_graph_step,
      [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge, const Ids& sender,
         const Ids& receiver) { return step_by_segments(q * 0, k, v, edge, sender, receiver); });
  CHECK_NAMED("the plain sum", grade_graph_step,
              [](const Tensor&, const Tensor&, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                return collected(Tensor::full({edge.dim(0)}, 1), v, sender, receiver);
              });
  CHECK_NAMED("not scaled", grade_graph_step, scaled_step<1>);
  CHECK_NAMED("not by its root", grade_graph_step, scaled_step<-1>);
  CHECK_NAMED("subtract the maximum", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return step_by_exponentials(score, v, sender, receiver, real{0});
              });
  CHECK_NAMED("subtract the maximum", grade_graph_step,  // that of all edges is not enough
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                return step_by_exponentials(score, v, sender, receiver, max(score));
              });
}

TEST_CASE("exercise graph-step: mistakes of the sum and of edges are named") {
  CHECK_NAMED("summed twice", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor once = step_by_segments(q, k, v, edge, sender, receiver);
                return segment_sum(embedding(once, receiver), receiver, q.dim(0));
              });
  CHECK_NAMED("add up to 1 already", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor degree = degrees_of_nodes(receiver, q.dim(0));
                return step_by_segments(q, k, v, edge, sender, receiver) / (degree + real{1e-300});
              });
  CHECK_NAMED(
      "The vectors of the edges are missing", grade_graph_step,
      [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge, const Ids& sender,
         const Ids& receiver) { return step_by_segments(q, k, v, edge * 0, sender, receiver); });
  CHECK_NAMED("with the same ends", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                std::map<std::pair<int32_t, int32_t>, int64_t> matrix;
                for (int64_t e = 0; e < sender.size(); ++e) matrix[{sender[e], receiver[e]}] = e;
                std::vector<Tensor> vectors;
                std::vector<int32_t> from, to;
                for (const auto& [ends, e] : matrix) {
                  vectors.push_back(slice(edge, 0, e, e + 1));
                  from.push_back(ends.first), to.push_back(ends.second);
                }
                const Shape shape{static_cast<int64_t>(from.size())};
                return step_by_segments(q, k, v, concat(vectors, 0), Ids::from(shape, from),
                                        Ids::from(shape, to));
              });
  CHECK_NAMED("(E, V)", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor score = edge_scores(q, k, edge, sender, receiver);
                const Tensor weight = segment_softmax(score, receiver, q.dim(0));
                return weight.reshape({weight.size(), 1}) * embedding(v, sender);
              });
  CHECK_NAMED("Not a number", grade_graph_step,  // a node without edges
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                const Tensor f = exp(edge_scores(q, k, edge, sender, receiver));
                return collected(f, v, sender, receiver) /
                       segment_sum(f.reshape({f.size(), 1}), receiver, q.dim(0));
              });
  CHECK_NAMED("does not know how it was computed", grade_graph_step,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& edge,
                 const Ids& sender, const Ids& receiver) {
                return step_by_segments(q, k, v, edge, sender, receiver).detach();
              });
}

}  // namespace
}  // namespace heed::course
