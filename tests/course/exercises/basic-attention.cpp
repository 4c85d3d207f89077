// The exercise basic-attention: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_basic_attention(Grader& g, Tensor (*basic_attention)(const Tensor& x));

namespace {

namespace basic_attention_stub {
using namespace heed;
#include "course/exercises/basic-attention/exercise.cpp"
}  // namespace basic_attention_stub

namespace basic_attention_solution {
using namespace heed;
#include "tests/course/solutions/basic-attention.cpp"
}  // namespace basic_attention_solution

Tensor scores_of_rows(const Tensor& x) { return matmul(x, transpose(x, 0, 1)); }

TEST_CASE("exercise basic-attention: the solution passes") {
  CHECK(graded(grade_basic_attention, basic_attention_solution::heed::course::basic_attention) ==
        "");
}

TEST_CASE("exercise basic-attention: the stub and mistakes are named") {
  CHECK_NAMED("nothing is computed yet", grade_basic_attention,
              basic_attention_stub::heed::course::basic_attention);
  CHECK_NAMED("over the positions that look", grade_basic_attention,
              [](const Tensor& x) { return matmul(softmax(scores_of_rows(x), 0), x); });
  // The mistake of a textbook: the sums of the rows are broadcast along the wrong axis.
  CHECK_NAMED("over the positions that look", grade_basic_attention, [](const Tensor& x) {
    const Tensor e = exp(scores_of_rows(x));
    return matmul(e / sum(e, {1}), x);
  });
  CHECK_NAMED("not divided by their sum", grade_basic_attention,
              [](const Tensor& x) { return matmul(exp(scores_of_rows(x)), x); });
  CHECK_NAMED("the softmax is missing", grade_basic_attention,
              [](const Tensor& x) { return matmul(scores_of_rows(x), x); });
  CHECK_NAMED("over all pairs", grade_basic_attention, [](const Tensor& x) {
    const Tensor e = exp(scores_of_rows(x));
    return matmul(e / sum(e), x);
  });
  CHECK_NAMED("divided by √D", grade_basic_attention, [](const Tensor& x) {
    return scaled_dot_product_attention(x.reshape({1, x.dim(0), x.dim(1)}),
                                        x.reshape({1, x.dim(0), x.dim(1)}),
                                        x.reshape({1, x.dim(0), x.dim(1)}), 1)
        .reshape(x.shape());
  });
  CHECK_NAMED("These are the weights", grade_basic_attention,
              [](const Tensor& x) { return softmax(scores_of_rows(x)); });
  CHECK_NAMED("plain mean", grade_basic_attention,
              [](const Tensor& x) { return Tensor::zeros(x.shape()) + mean(x, {0}); });
  CHECK_NAMED("x itself", grade_basic_attention, [](const Tensor& x) { return add(x, 0); });
  CHECK_NAMED("does not know how it was computed", grade_basic_attention,
              [](const Tensor& x) { return matmul(softmax(scores_of_rows(x)), x).detach(); });
}

}  // namespace
}  // namespace heed::course
