// Lines that are wrong, for the grader of the exercise bug-in-pooling.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

TEST_CASE("exercise bug-in-pooling: a right function needs the line") {
  using Pooled = Tensor (*)(const Tensor&, const Ids&, const Tensor&, const Tensor&);
  const auto right = course::solution_of<Pooled>("bug_in_pooling", 1);
  CHECK_SAYS(
      "Which line did you change", "bug_in_pooling", [] { return 0; }, right);
  CHECK_SAYS(
      "a different line was wrong", "bug_in_pooling", [] { return 8; }, right);
}
