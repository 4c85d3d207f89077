// Another right answer to the exercise learned-query, and what only running shows.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"

using namespace heed;

namespace {

template <bool detaches>
Tensor by_the_library(const Tensor& x, const Ids& lengths, const Tensor& queries, const Tensor& wk,
                      const Tensor& wv) {
  const Tensor of_all = queries + Tensor::zeros({x.dim(0), 1, 1});
  const Tensor y = scaled_dot_product_attention(of_all, linear(x, wk), linear(x, wv), 1,
                                                {.mask = {.key_lengths = lengths}});
  return detaches ? y.detach() : y;
}

}  // namespace

TEST_CASE("exercise learned-query: the library's attention passes, without its gradient it fails") {
  CHECK(course::verdict("learned_query", by_the_library<false>) == "");
  CHECK_SAYS("does not know how it was computed", "learned_query", by_the_library<true>);
}
