#include "core/ops.h"
#include "nn/normaliser.h"

namespace heed::inline HEED_REAL {

const NormaliserRule normalisers::sum = {
    .name = "sum",
    .divides_by_sum = true,
    .weights = [](const Tensor& scores, const KeepMask& mask, const NormaliserOptions& options) {
      return options.exponential ? heed::softmax(masked_scores(scores, mask))
                                 : sum_normalize(masked_f(scores, mask, false));
    }};

}  // namespace heed::inline HEED_REAL
