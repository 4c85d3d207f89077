#include "core/ops.h"
#include "nn/normaliser.h"

namespace heed::inline HEED_REAL {

const NormaliserRule normalisers::none = {
    .name = "none",
    .weights = [](const Tensor& scores, const KeepMask& mask, const NormaliserOptions& options) {
      return masked_f(scores, mask, options.exponential);
    }};

}  // namespace heed::inline HEED_REAL
