#include <algorithm>
#include <vector>

#include "core/shape.h"

namespace heed::inline HEED_REAL {

// The shape of an operation on tensors of shapes a and b. a.rank() is the number of axes, a[i] the
// length of axis i; a[-1] is the last, a[-2] the one before it.
Shape broadcast(const char* operation, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> lengths(static_cast<size_t>(rank));
  for (int axis = 1; axis <= rank; ++axis) {
    const int64_t in_a = axis <= a.rank() ? a[-axis] : 1, in_b = axis <= b.rank() ? b[-axis] : 1;
    check(in_a == in_b || in_a == 1 || in_b == 1, "{}: shapes {} and {} do not broadcast",
          operation, a, b);
    lengths[static_cast<size_t>(rank - axis)] = in_a == 1 ? in_b : in_a;
  }
  return Shape(lengths);
}

}  // namespace heed::inline HEED_REAL
