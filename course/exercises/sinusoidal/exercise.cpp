// Sinusoidal positions: write the function below. The task is in
// course/exercises/sinusoidal/task.md; check it with
//
//   ./heed course check sinusoidal
#include <cmath>

#include "core/ops.h"

namespace heed::course {

// Row t: sin(ωₖ t) in column 2k, cos(ωₖ t) in column 2k + 1, with ωₖ = 10000^(-2k/dim).
// → (length, dim), dim even
Tensor sinusoidal_table(int64_t length, int64_t dim) {
  Tensor table = Tensor::zeros({length, dim});
  // Write this.
  return table;
}

}  // namespace heed::course
