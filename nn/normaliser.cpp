#include "nn/normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops.h"

namespace heed::inline HEED_REAL {

Tensor attention_weights(const Tensor& scores, const KeepMask& mask,
                         const NormaliserOptions& options) {
  return options.kind->weights(scores, mask, options);
}

Tensor masked_scores(const Tensor& scores, const KeepMask& mask) {
  return masked_fill(scores, mask, -std::numeric_limits<real>::infinity());
}

Tensor masked_f(const Tensor& scores, const KeepMask& mask, bool exponential) {
  return exponential ? exp(masked_scores(scores, mask)) : masked_fill(scores, mask, 0);
}

double Temperature::at(int64_t step) const {
  if (final == 0) return initial;
  const double progress =
      steps > 0 ? std::min(1.0, static_cast<double>(step) / static_cast<double>(steps)) : 1;
  return initial * std::pow(final / initial, progress);
}

}  // namespace heed::inline HEED_REAL
