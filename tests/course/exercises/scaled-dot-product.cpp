// What only running shows of answers to the exercise scaled-dot-product.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise scaled-dot-product: a lost gradient is named") {
  CHECK_SAYS("does not know how it was computed", "scaled_dot_product",
             [](const Tensor& q, const Tensor& k, const Tensor& v, const Ids& keep) {
               const Tensor scores = matmul(q, transpose(k, 0, 1)) / std::sqrt(q.dim(1));
               const Tensor hidden =
                   Tensor::full(scores.shape(), -std::numeric_limits<double>::infinity());
               return matmul(softmax(where(keep, scores, hidden)), v).detach();
             });
}
