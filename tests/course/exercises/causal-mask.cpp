// Another right answer to the exercise causal-mask.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise causal-mask: finite scores, whose weights are then removed, pass") {
  CHECK(course::verdict("causal_mask", [](const Tensor& q, const Tensor& k, const Tensor& v) {
          Ids later = Ids::full({q.dim(0), k.dim(0)}, 0);
          for (int64_t i = 0; i < q.dim(0); ++i)
            for (int64_t j = 0; j < k.dim(0); ++j)
              later.mutable_data()[i * k.dim(0) + j] = j > i + k.dim(0) - q.dim(0);
          const Tensor scores = matmul(q, transpose(k, 0, 1)) / std::sqrt(k.dim(1));
          return matmul(masked_fill(softmax(masked_fill(scores, later, -1e9)), later, 0), v);
        }) == "");
}
