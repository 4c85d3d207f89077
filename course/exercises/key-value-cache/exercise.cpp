// A key/value cache: write the two functions below. The task is in
// course/exercises/key-value-cache/task.md; check them with
//
//   ./heed course check key-value-cache
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"

namespace heed::course {

// Appends k and v of n new positions to keys (N, t, K) and values (N, t, V), which are empty at
// first, and returns the attention of each new position to all positions up to its own.
// q, k (N, n, K), v (N, n, V) → (N, n, V)
Tensor attend_next(Tensor& keys, Tensor& values, const Tensor& /*q*/, const Tensor& k,
                   const Tensor& v) {
  keys = k, values = v;
  // Write this.
  return Tensor::zeros(v.shape());
}

// Lets text n continue what text rows[n] has read.
void continue_rows(Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
  check(!rows.empty() && keys.dim(0) == values.dim(0), "continue_rows: no rows");
  // Write this.
}

}  // namespace heed::course
