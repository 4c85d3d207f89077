// Find the bug: rare words learn, frequent ones do not. The task is in
// course/exercises/bug-in-lookup/task.md; check it with
//
//   ./heed course check bug-in-lookup
#include <algorithm>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::course {

// The number of the line with the mistake.
int wrong_line() { return 0; }

// y[n] = weight[ids[n]]; backward adds dy[n] to the gradient of that row.   (vocab, D), (N) → (N,
// D)
Tensor lookup(const Tensor& weight, const Ids& ids) {
  const int64_t rows = weight.dim(0), width = weight.dim(1), count = ids.size();
  Tensor y = Tensor::empty({count, width});                  // 1
  for (int64_t n = 0; n < count; ++n) {                      // 2
    const real* const row = weight.data() + ids[n] * width;  // 3
    std::copy_n(row, width, y.mutable_data() + n * width);   // 4
  }
  return record("lookup", y, {weight}, [rows, width, count, ids](Backward& g) {  // 5
    const Destination dw = g.into(0);                                            // 6
    if (!dw.accumulate) std::fill_n(dw.data, rows * width, real{0});             // 7
    for (int64_t n = 0; n < count; ++n) {                                        // 8
      const real* const dy = g.dy() + n * width;                                 // 9
      real* const row = dw.data + ids[n] * width;                                // 10
      std::copy_n(dy, width, row);                                               // 11
    }
  });
}

}  // namespace heed::course
