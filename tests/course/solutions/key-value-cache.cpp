#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ops.h"

namespace heed::course {

// Appends k and v of n new positions to keys (N, t, K) and values (N, t, V), which are empty at
// first, and returns the attention of each new position to all positions up to its own.
// q, k (N, n, K), v (N, n, V) → (N, n, V)
Tensor attend_next(Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k,
                   const Tensor& v) {
  keys = keys ? concat({keys, k}, 1) : k;
  values = values ? concat({values, v}, 1) : v;
  const int64_t count = q.dim(1), all = keys.dim(1);
  Ids later = Ids::full({count, all}, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < all; ++j) later.mutable_data()[i * all + j] = j > i + all - count;
  const Tensor scores = matmul(q, transpose(keys, -1, -2)) / std::sqrt(static_cast<real>(q.dim(2)));
  constexpr real hidden = -std::numeric_limits<real>::infinity();
  return matmul(softmax(masked_fill(scores, later, hidden)), values);
}

// The rows `rows` of x (N, t, W).
static Tensor rows_of(const Tensor& x, const std::vector<int64_t>& rows) {
  const int64_t size = x.dim(1) * x.dim(2);
  Tensor chosen = Tensor::empty({std::ssize(rows), x.dim(1), x.dim(2)});
  real* to = chosen.mutable_data();
  for (const int64_t row : rows) to = std::copy_n(x.data() + row * size, size, to);
  return chosen;
}

// Lets text n continue what text rows[n] has read.
void continue_rows(Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
  keys = rows_of(keys, rows);
  values = rows_of(values, rows);
}

}  // namespace heed::course
