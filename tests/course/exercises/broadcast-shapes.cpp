// The exercise broadcast-shapes: its solution, its stub, and the mistakes that its grader names.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/shape.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

void grade_broadcast_shapes(Grader& g, Shape (*broadcast)(const char* operation, const Shape& a,
                                                          const Shape& b));

namespace {

namespace broadcast_shapes_stub {
using namespace heed;
#include "course/exercises/broadcast-shapes/exercise.cpp"
}  // namespace broadcast_shapes_stub

enum class BroadcastFault {
  none,
  first_axis,
  no_error,
  larger,
  larger_no_error,
  same_rank,
  only_a,
  only_b,
  nameless
};

// The solution, with a fault.
template <BroadcastFault fault>
Shape faulty_broadcast(const char* operation, const Shape& a, const Shape& b) {
  using enum BroadcastFault;
  const int rank = std::max(a.rank(), b.rank());
  check(fault != same_rank || a.rank() == b.rank(), "{}: other ranks", operation);
  std::vector<int64_t> lengths(static_cast<size_t>(rank));
  for (int i = 1; i <= rank; ++i) {
    const auto length = [&](const Shape& s) {
      if (i > s.rank()) return int64_t{1};
      return fault == first_axis ? s[i - 1] : s[-i];
    };
    const int64_t x = length(a), y = length(b);
    const bool fits = x == y || (x == 1 && fault != only_b) || (y == 1 && fault != only_a);
    if (fault != no_error && fault != larger_no_error)
      check(fits, "{}: {} and {} do not fit", fault == nameless ? "broadcast" : operation, a, b);
    lengths[static_cast<size_t>(fault == first_axis ? i - 1 : rank - i)] =
        fault == larger || fault == larger_no_error ? std::max(x, y)
        : x == 1                                    ? y
                                                    : x;
  }
  return Shape(lengths);
}

TEST_CASE("exercise broadcast-shapes: the solution and the library pass") {
  CHECK(graded(grade_broadcast_shapes, faulty_broadcast<BroadcastFault::none>) == "");
  CHECK(graded(grade_broadcast_shapes, heed::broadcast) == "");
}

TEST_CASE("exercise broadcast-shapes: the stub and mistakes are named") {
  using enum BroadcastFault;
  CHECK_NAMED("This is the shape of a", grade_broadcast_shapes,
              broadcast_shapes_stub::heed::broadcast);
  CHECK_NAMED("This is the shape of b", grade_broadcast_shapes,
              [](const char*, const Shape&, const Shape& b) { return b; });
  CHECK_NAMED("aligned at their first axis", grade_broadcast_shapes, faulty_broadcast<first_axis>);
  CHECK_NAMED("neither of them 1, must throw an Error.", grade_broadcast_shapes,
              faulty_broadcast<no_error>);
  CHECK_NAMED("this takes the larger", grade_broadcast_shapes, faulty_broadcast<larger_no_error>);
  CHECK_NAMED("the larger of the two lengths", grade_broadcast_shapes, faulty_broadcast<larger>);
  CHECK_NAMED("A missing axis counts as 1", grade_broadcast_shapes, faulty_broadcast<same_rank>);
  CHECK_NAMED("Only b is repeated", grade_broadcast_shapes, faulty_broadcast<only_b>);
  CHECK_NAMED("Only a is repeated", grade_broadcast_shapes, faulty_broadcast<only_a>);
  CHECK_NAMED("begin with the name of the operation", grade_broadcast_shapes,
              faulty_broadcast<nameless>);
  CHECK_NAMED("Shapes that differ may broadcast", grade_broadcast_shapes,
              [](const char* operation, const Shape& a, const Shape& b) {
                check(a == b, "{}: shapes differ", operation);
                return a;
              });
}

}  // namespace
}  // namespace heed::course
