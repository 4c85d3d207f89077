// The mistakes that the grader of the exercise broadcast-shapes names.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/shape.h"
#include "tests/course/exercises/graded.h"

namespace heed::course {

namespace {

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
  CHECK(verdict("broadcast_shapes", faulty_broadcast<BroadcastFault::none>) == "");
  CHECK(verdict("broadcast_shapes", heed::broadcast) == "");
}

TEST_CASE("exercise broadcast-shapes: the stub and mistakes are named") {
  using enum BroadcastFault;
  CHECK_SAYS("This is the shape of b", "broadcast_shapes",
             [](const char*, const Shape&, const Shape& b) { return b; });
  CHECK_SAYS("aligned at their first axis", "broadcast_shapes", faulty_broadcast<first_axis>);
  CHECK_SAYS("neither of them 1, must throw an Error.", "broadcast_shapes",
             faulty_broadcast<no_error>);
  CHECK_SAYS("this takes the larger", "broadcast_shapes", faulty_broadcast<larger_no_error>);
  CHECK_SAYS("the larger of the two lengths", "broadcast_shapes", faulty_broadcast<larger>);
  CHECK_SAYS("A missing axis counts as 1", "broadcast_shapes", faulty_broadcast<same_rank>);
  CHECK_SAYS("Only b is repeated", "broadcast_shapes", faulty_broadcast<only_b>);
  CHECK_SAYS("Only a is repeated", "broadcast_shapes", faulty_broadcast<only_a>);
  CHECK_SAYS("begin with the name of the operation", "broadcast_shapes",
             faulty_broadcast<nameless>);
  CHECK_SAYS("Shapes that differ may broadcast", "broadcast_shapes",
             [](const char* operation, const Shape& a, const Shape& b) {
               check(a == b, "{}: shapes differ", operation);
               return a;
             });
}

}  // namespace
}  // namespace heed::course
