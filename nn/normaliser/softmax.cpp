#include "core/ops.h"
#include "nn/normaliser.h"

namespace heed::inline HEED_REAL {

const NormaliserRule normalisers::softmax = {
    .name = "softmax",
    .is_softmax = true,
    .weights = [](const Tensor& scores, const KeepMask& mask, const NormaliserOptions&) {
      return heed::softmax(masked_scores(scores, mask));
    }};

}  // namespace heed::inline HEED_REAL
