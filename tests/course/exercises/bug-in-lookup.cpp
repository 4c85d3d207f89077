// The exercise bug-in-lookup: its solution, what is shipped, and the mistakes that its grader
// names.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_bug_in_lookup(Grader& g, int (*wrong_line)(),
                         Tensor (*lookup)(const Tensor& weight, const Ids& ids));

namespace {

namespace bug_in_lookup_shipped {
using namespace heed;
#include "course/exercises/bug-in-lookup/exercise.cpp"
}  // namespace bug_in_lookup_shipped

// Counts the first occurrence of each token only.
Tensor lookup_of_first(const Tensor& weight, const Ids& ids) {
  const int64_t rows = weight.dim(0), width = weight.dim(1), count = ids.size();
  return record("lookup", embedding(weight, ids).detach(), {weight}, [=](Backward& g) {
    const Destination dw = g.into(0);
    if (!dw.accumulate) std::fill_n(dw.data, rows * width, real{0});
    for (int64_t n = 0; n < count; ++n) {
      if (std::find(ids.data(), ids.data() + n, ids[n]) != ids.data() + n) continue;
      for (int64_t d = 0; d < width; ++d) dw.data[ids[n] * width + d] += g.dy()[n * width + d];
    }
  });
}

// Forgets what is in the slot.
Tensor lookup_overwriting(const Tensor& weight, const Ids& ids) {
  const int64_t rows = weight.dim(0), width = weight.dim(1), count = ids.size();
  return record("lookup", embedding(weight, ids).detach(), {weight}, [=](Backward& g) {
    const Destination dw = g.into(0);
    std::fill_n(dw.data, rows * width, real{0});
    for (int64_t n = 0; n < count; ++n)
      for (int64_t d = 0; d < width; ++d) dw.data[ids[n] * width + d] += g.dy()[n * width + d];
  });
}

int lookup_line_found() { return 11; }
int lookup_line_not_found() { return 0; }
int lookup_another_line() { return 7; }

TEST_CASE("exercise bug-in-lookup: the solution passes") {
  CHECK(graded(grade_bug_in_lookup, lookup_line_found, embedding) == "");
}

TEST_CASE("exercise bug-in-lookup: what is shipped and mistakes are named") {
  namespace shipped = bug_in_lookup_shipped::heed::course;
  CHECK_NAMED("only the last one counts", grade_bug_in_lookup, shipped::wrong_line,
              shipped::lookup);
  CHECK_NAMED("Now repair it", grade_bug_in_lookup, lookup_line_found, shipped::lookup);
  CHECK_NAMED("Which line did you change", grade_bug_in_lookup, lookup_line_not_found, embedding);
  CHECK_NAMED("it was another line", grade_bug_in_lookup, lookup_another_line, embedding);
  CHECK_NAMED("the first occurrence", grade_bug_in_lookup, lookup_line_found, lookup_of_first);
  CHECK_NAMED("Destination::accumulate", grade_bug_in_lookup, lookup_line_found,
              lookup_overwriting);
}

}  // namespace
}  // namespace heed::course
