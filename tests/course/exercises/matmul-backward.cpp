// What only running shows of answers to the exercise matmul-backward.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

TEST_CASE("exercise matmul-backward: the library passes, and what is shipped has its values") {
  CHECK(course::verdict("matmul_backward", matmul) == "");
  CHECK_SAYS("does not know how it was computed", "matmul_backward",
             [](const Tensor& a, const Tensor& b) { return matmul(a, b).detach(); });
  const auto shipped = course::shipped_of<decltype(&matmul)>("matmul_backward");
  const Tensor a = course::Grader(1).tensor({2, 1, 3, 4}, -1, 1),
               b = course::Grader(2).tensor({3, 4, 2}, -1, 1);
  CHECK(course::largest_difference(shipped(a, b), matmul(a, b)) < 1e-12);
}
