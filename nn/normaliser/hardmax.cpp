#include "core/ops.h"
#include "nn/normaliser.h"

namespace heed::inline HEED_REAL {

const NormaliserRule normalisers::hardmax = {
    .name = "hardmax",
    .has_straight_through = true,
    .weights = [](const Tensor& scores, const KeepMask& mask, const NormaliserOptions& options) {
      return heed::hardmax(masked_scores(scores, mask), options.straight_through
                                                            ? HardmaxGradient::straight_through
                                                            : HardmaxGradient::none);
    }};

}  // namespace heed::inline HEED_REAL
