// The exercise learned-query: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_learned_query(Grader& g, Tensor (*learned_query)(const Tensor& x, const Ids& lengths,
                                                            const Tensor& queries, const Tensor& wk,
                                                            const Tensor& wv));

namespace {

namespace learned_query_stub {
using namespace heed;
#include "course/exercises/learned-query/exercise.cpp"
}  // namespace learned_query_stub

constexpr real hidden_score = -std::numeric_limits<real>::infinity();

Ids padding_of_bags(const Tensor& x, const Ids& lengths) {
  Ids hidden = Ids::empty({x.dim(0), 1, x.dim(1)});
  for (int64_t i = 0; i < hidden.size(); ++i)
    hidden.mutable_data()[i] = i % x.dim(1) >= lengths[i / x.dim(1)];
  return hidden;
}

Tensor scores_of_bags(const Tensor& x, const Tensor& queries, const Tensor& wk, double width = 0) {
  const Tensor k = linear(x, wk);
  if (width == 0) width = static_cast<double>(k.dim(2));
  return matmul(queries, transpose(k, 1, 2)) / static_cast<real>(std::sqrt(width));
}

Tensor weights_of_bags(const Tensor& scores, const Ids& hidden) {
  return softmax(masked_fill(scores, hidden, hidden_score));
}

Tensor by_composition(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                      const Tensor& wv) {
  return matmul(weights_of_bags(scores_of_bags(x, queries, wk), padding_of_bags(x, lengths)),
                linear(x, wv));
}

enum class RootOf { one, x, queries, square };
template <RootOf root>
Tensor with_scale(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                  const Tensor& wv) {
  const double k = static_cast<double>(wk.dim(0));
  const double width = root == RootOf::one       ? 1
                       : root == RootOf::x       ? static_cast<double>(x.dim(2))
                       : root == RootOf::queries ? static_cast<double>(queries.dim(0))
                                                 : k * k;
  return matmul(weights_of_bags(scores_of_bags(x, queries, wk, width), padding_of_bags(x, lengths)),
                linear(x, wv));
}

TEST_CASE("exercise learned-query: the solution passes") {
  CHECK(graded(grade_learned_query, by_composition) == "");
  CHECK(graded(grade_learned_query, [](const Tensor& x, const Ids& lengths, const Tensor& queries,
                                       const Tensor& wk, const Tensor& wv) {
          const Tensor of_all = queries + Tensor::zeros({x.dim(0), 1, 1});
          return scaled_dot_product_attention(of_all, linear(x, wk), linear(x, wv), 1,
                                              {.mask = {.key_lengths = lengths}});
        }) == "");
}

TEST_CASE("exercise learned-query: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_learned_query,
              learned_query_stub::heed::course::learned_query);
  CHECK_NAMED(
      "The padding is read", grade_learned_query,
      [](const Tensor& x, const Ids&, const Tensor& queries, const Tensor& wk, const Tensor& wv) {
        return matmul(softmax(scores_of_bags(x, queries, wk)), linear(x, wv));
      });
  CHECK_NAMED("up to the length of the first", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                return by_composition(x, Ids::full({x.dim(0)}, lengths[0]), queries, wk, wv);
              });
  CHECK_NAMED("hidden after the softmax", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                const Tensor weights = softmax(scores_of_bags(x, queries, wk));
                return matmul(masked_fill(weights, padding_of_bags(x, lengths), 0), linear(x, wv));
              });
  CHECK_NAMED("whose exponential is 1", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                const Tensor scores = scores_of_bags(x, queries, wk);
                return matmul(softmax(masked_fill(scores, padding_of_bags(x, lengths), 0)),
                              linear(x, wv));
              });
  CHECK_NAMED("not scaled", grade_learned_query, with_scale<RootOf::one>);
  CHECK_NAMED("divided by √D", grade_learned_query, with_scale<RootOf::x>);
  CHECK_NAMED("divided by √N", grade_learned_query, with_scale<RootOf::queries>);
  CHECK_NAMED("not by its root", grade_learned_query, with_scale<RootOf::square>);
  CHECK_NAMED("over the queries", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                const Tensor weights = softmax(scores_of_bags(x, queries, wk), 1);
                return matmul(masked_fill(weights, padding_of_bags(x, lengths), 0), linear(x, wv));
              });
  CHECK_NAMED("the plain mean", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                const Tensor scores = scores_of_bags(x, queries, wk) * 0;
                return matmul(weights_of_bags(scores, padding_of_bags(x, lengths)), linear(x, wv));
              });
  CHECK_NAMED("the sum over all rows", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                const Tensor ones = scores_of_bags(x, queries, wk) * 0 + 1;
                return matmul(masked_fill(ones, padding_of_bags(x, lengths), 0), linear(x, wv));
              });
  CHECK_NAMED("(N, B, V)", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor& wv) {
                return transpose(by_composition(x, lengths, queries, wk, wv), 0, 1);
              });
  CHECK_NAMED("These are the weights", grade_learned_query,
              [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                 const Tensor&) {
                return weights_of_bags(scores_of_bags(x, queries, wk), padding_of_bags(x, lengths));
              });
  CHECK_NAMED(
      "does not know how it was computed", grade_learned_query,
      [](const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
         const Tensor& wv) { return by_composition(x, lengths, queries, wk, wv).detach(); });
}

}  // namespace
}  // namespace heed::course
