// The library and Adam's moments, for the grader of the exercise adam.
#include <doctest/doctest.h>

#include "optim/kernels/kernels.h"
#include "tests/course/exercises/graded.h"

using namespace heed;

TEST_CASE("exercise adam: the library passes, and weights alone are not enough") {
  CHECK(course::verdict("adam", kernels::adam_step) == "");
  const std::string halved = course::verdict("adam", [](const UpdateRange& r) {
    kernels::adam_step(r);
    if (r.step == 4)  // no later step shows it
      for (int64_t i = 0; i < r.size; ++i) r.state[0][i] /= 2;
  });
  CHECK_CONTAINS(halved, "m[0] after step 4");
}
