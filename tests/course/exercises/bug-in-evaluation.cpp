// Lines that are wrong, for the grader of the exercise bug-in-evaluation.
#include <doctest/doctest.h>

#include "tests/course/exercises/graded.h"
#include "tests/course/exercises/samples.h"

using namespace heed;

TEST_CASE("exercise bug-in-evaluation: a right function needs the line") {
  using Evaluated = double (*)(const Tensor&, const Ids&, int64_t);
  const auto right = course::solution_of<Evaluated>("bug_in_evaluation", 1);
  CHECK_SAYS(
      "Which line did you change", "bug_in_evaluation", [] { return 0; }, right);
  CHECK_SAYS(
      "a different line was wrong", "bug_in_evaluation", [] { return 8; }, right);
}
