#include "core/ops.h"

namespace heed::course {

// softmax(scores / T) along the last axis, and its limits for T = 0 and T = ∞.
// scores (N, M), temperature in [0, ∞] → (N, M)
Tensor tempered_weights(const Tensor& scores, double temperature) {
  check(temperature >= 0, "tempered_weights: expected a temperature ≥ 0, got {}", temperature);
  return temperature == 0 ? hardmax(scores) : softmax(scores / temperature);
}

}  // namespace heed::course
