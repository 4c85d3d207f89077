// Other forms of mistakes in the exercise basic-attention, and what only running shows.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise basic-attention: a textbook's mistake, the library's scale, a lost gradient") {
  // The sums of the rows are broadcast along the wrong axis.
  CHECK_SAYS("over the positions that look", "basic_attention", [](const Tensor& x) {
    const Tensor e = exp(matmul(x, transpose(x, 0, 1)));
    return matmul(e / sum(e, {1}), x);
  });
  CHECK_SAYS("divided by √D", "basic_attention", [](const Tensor& x) {
    const Tensor one = x.reshape({1, x.dim(0), x.dim(1)});
    return scaled_dot_product_attention(one, one, one, 1).reshape(x.shape());
  });
  CHECK_SAYS("does not know how it was computed", "basic_attention", [](const Tensor& x) {
    return matmul(softmax(matmul(x, transpose(x, 0, 1))), x).detach();
  });
}
