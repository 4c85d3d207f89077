// Lines and destinations that are wrong, for the grader of the exercise bug-in-lookup.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/autograd.h"
#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise bug-in-lookup: a right operation needs the line, and the slot what is in it") {
  CHECK_SAYS(
      "Which line did you change", "bug_in_lookup", [] { return 0; }, embedding);
  CHECK_SAYS(
      "a different line was wrong", "bug_in_lookup", [] { return 7; }, embedding);
  CHECK_SAYS(
      "Destination::accumulate", "bug_in_lookup", [] { return 11; },
      [](const Tensor& weight, const Ids& ids) {
        return record("lookup", embedding(weight, ids).detach(), {weight},
                      [=, size = weight.size(), width = weight.dim(1)](Backward& g) {
                        const Destination dw = g.into(0);
                        std::fill_n(dw.data, size, real{0});
                        for (int64_t i = 0; i < g.size(); ++i)
                          dw.data[ids[i / width] * width + i % width] += g.dy()[i];
                      });
      });
}
