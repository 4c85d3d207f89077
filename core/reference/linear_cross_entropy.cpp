// The loss of a linear layer's logits, by its definition. It stores all of them.
#include "core/ops/fused.h"

namespace heed::inline HEED_REAL {

Tensor fused::linear_cross_entropy(const Tensor& x, const Tensor& w, const Tensor& b,
                                   const Ids& targets, Reduction reduction,
                                   const LabelSmoothing& smoothing, int64_t /*at_once*/) {
  return cross_entropy(linear(x, w, b), targets, reduction, smoothing);
}

}  // namespace heed::inline HEED_REAL
