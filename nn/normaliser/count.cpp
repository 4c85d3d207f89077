#include "core/ops.h"
#include "core/parallel_for.h"
#include "nn/normaliser.h"

namespace heed::inline HEED_REAL {
namespace {

// 1 / m, and 0 where m = 0: (B, H or 1, Tq, 1)
Tensor inverse_counts(const KeepMask& mask, const Shape& scores) {
  const int64_t batch = scores[0], queries = scores[2], keys = scores[3];
  const int64_t heads = mask.dense ? mask.dense.dim(1) : 1;
  Tensor inverse = Tensor::empty({batch, heads, queries, 1});
  real* to = inverse.mutable_data();
  parallel_for(batch * heads * queries, chunk_rows(keys), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t b = row / queries / heads, h = row / queries % heads, i = row % queries;
      int64_t count = 0;
      for (int64_t j = 0; j < keys; ++j) count += mask.keeps(b, h, i, j, queries, keys);
      to[row] = count > 0 ? 1 / static_cast<real>(count) : real{0};
    }
  });
  return inverse;
}

}  // namespace

const NormaliserRule normalisers::count = {
    .name = "count",
    .weights = [](const Tensor& scores, const KeepMask& mask, const NormaliserOptions& options) {
      return masked_f(scores, mask, options.exponential) * inverse_counts(mask, scores.shape());
    }};

}  // namespace heed::inline HEED_REAL
