// Broadcast shapes: write the function below. It replaces the library's. The task is in
// course/exercises/broadcast-shapes/task.md; check it with
//
//   ./heed course check broadcast-shapes
#include <algorithm>
#include <vector>

#include "core/shape.h"

namespace heed::inline HEED_REAL {

// The shape of an operation on tensors of shapes a and b. a.rank() is the number of axes, a[i] the
// length of axis i; a[-1] is the last, a[-2] the one before it.
Shape broadcast(const char* operation, const Shape& a, const Shape& b) {
  std::vector<int64_t> lengths(a.begin(), a.end());
  // Write this.
  (void)operation, (void)b;
  return Shape(lengths);  // of a std::vector
}

}  // namespace heed::inline HEED_REAL
