#include "nn/normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL {
namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

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

Tensor attention_weights(const Tensor& scores, const KeepMask& mask,
                         const NormaliserOptions& options) {
  // f, and 0 where a key is hidden.
  const auto kept = [&] {
    return options.exponential ? exp(masked_fill(scores, mask, -infinity))
                               : masked_fill(scores, mask, 0);
  };
  switch (options.kind) {
    case NormaliserKind::softmax:
      return softmax(masked_fill(scores, mask, -infinity));
    case NormaliserKind::hardmax:
      return hardmax(masked_fill(scores, mask, -infinity), options.straight_through
                                                               ? HardmaxGradient::straight_through
                                                               : HardmaxGradient::none);
    case NormaliserKind::sum:
      return options.exponential ? softmax(masked_fill(scores, mask, -infinity))
                                 : sum_normalize(kept());
    case NormaliserKind::count:
      return kept() * inverse_counts(mask, scores.shape());
    case NormaliserKind::none:
      return kept();
  }
  throw Error("attention: unknown normaliser");
}

double Temperature::at(int64_t step) const {
  if (final == 0) return initial;
  const double part =
      steps > 0 ? std::min(1.0, static_cast<double>(step) / static_cast<double>(steps)) : 1;
  return initial * std::pow(final / initial, part);
}

}  // namespace heed::inline HEED_REAL
