// A tile of a matrix product: write the function below. The task is in
// course/exercises/register-tile/task.md; check it with
//
//   ./heed course check register-tile
#include <cstdint>

#include "core/real.h"

namespace heed::course {

// c[i, j] += Σₚ a[i, p] b[p, j] for i < 6, j < 16, p < k. Rows of a and c begin every leading_a and
// leading_c elements, rows of b every 16.
void multiply_tile(int64_t k, const real* a, int64_t leading_a, const real* b, real* c,
                   int64_t leading_c) {
  // Write this. (The line below only keeps the compiler from complaining.)
  (void)k, (void)a, (void)leading_a, (void)b, (void)c, (void)leading_c;
}

}  // namespace heed::course
