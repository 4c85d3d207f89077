// The exercise scaled-dot-product: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_scaled_dot_product(Grader& g,
                              Tensor (*scaled_dot_product)(const Tensor& q, const Tensor& k,
                                                           const Tensor& v, const Ids& keep));

namespace {

namespace scaled_dot_product_stub {
using namespace heed;
#include "course/exercises/scaled-dot-product/exercise.cpp"
}  // namespace scaled_dot_product_stub

Tensor root_scaled_scores(const Tensor& q, const Tensor& k) {
  return matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<real>(q.dim(1)));
}

// `value` where the mask hides a key.
Tensor with_hidden(const Tensor& scores, const Ids& keep,
                   real value = -std::numeric_limits<real>::infinity()) {
  return where(keep, scores, Tensor::full(scores.shape(), value));
}

template <int axis>  // whose length is under the root: 0 of q, 2 of k, 3 of v
Tensor scaled_by_another_length(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Ids& keep) {
  const int64_t length = axis == 0 ? q.dim(0) : axis == 2 ? k.dim(0) : v.dim(1);
  const Tensor scores = matmul(q, transpose(k, 0, 1)) / std::sqrt(static_cast<real>(length));
  return matmul(softmax(with_hidden(scores, keep)), v);
}

TEST_CASE("exercise scaled-dot-product: the solution passes") {
  CHECK(graded(grade_scaled_dot_product,
               [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                 return matmul(softmax(with_hidden(root_scaled_scores(q, k), keep)), v);
               }) == "");
}

TEST_CASE("exercise scaled-dot-product: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_scaled_dot_product,
              scaled_dot_product_stub::heed::course::scaled_dot_product);
  CHECK_NAMED("The mask is ignored", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids&) {
                return matmul(softmax(root_scaled_scores(q, k)), v);
              });
  CHECK_NAMED("wrong way round", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(softmax(masked_fill(root_scaled_scores(q, k), keep,
                                                  -std::numeric_limits<real>::infinity())),
                              v);
              });
  CHECK_NAMED("whose exponential is 1", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(softmax(with_hidden(root_scaled_scores(q, k), keep, 0)), v);
              });
  CHECK_NAMED("after the softmax", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(with_hidden(softmax(root_scaled_scores(q, k)), keep, 0), v);
              });
  CHECK_NAMED("not scaled", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(softmax(with_hidden(matmul(q, transpose(k, 0, 1)), keep)), v);
              });
  CHECK_NAMED("not by its root", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                const real width = static_cast<real>(q.dim(1));
                return matmul(softmax(with_hidden(matmul(q, transpose(k, 0, 1)) / width, keep)), v);
              });
  CHECK_NAMED("not divided", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                const real root = std::sqrt(static_cast<real>(q.dim(1)));
                return matmul(softmax(with_hidden(matmul(q, transpose(k, 0, 1)) * root, keep)), v);
              });
  CHECK_NAMED("√Tq", grade_scaled_dot_product, scaled_by_another_length<0>);
  CHECK_NAMED("√Tk", grade_scaled_dot_product, scaled_by_another_length<2>);
  CHECK_NAMED("√V", grade_scaled_dot_product, scaled_by_another_length<3>);
  CHECK_NAMED("over the queries", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(softmax(with_hidden(root_scaled_scores(q, k), keep), 0), v);
              });
  CHECK_NAMED("not divided by their sum", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(exp(with_hidden(root_scaled_scores(q, k), keep)), v);
              });
  CHECK_NAMED("These are the weights", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor&, const Ids& keep) {
                return softmax(with_hidden(root_scaled_scores(q, k), keep));
              });
  CHECK_NAMED("does not know how it was computed", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                return matmul(softmax(with_hidden(root_scaled_scores(q, k), keep)), v).detach();
              });
  CHECK_NAMED("That is the library's answer", grade_scaled_dot_product,
              [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
                AttentionOptions options;
                options.mask.dense = keep.reshape({1, 1, keep.dim(0), keep.dim(1)});
                return scaled_dot_product_attention(q.reshape({1, q.dim(0), q.dim(1)}),
                                                    k.reshape({1, k.dim(0), k.dim(1)}),
                                                    v.reshape({1, v.dim(0), v.dim(1)}), 1, options)
                    .reshape({q.dim(0), v.dim(1)});
              });
}

}  // namespace
}  // namespace heed::course
