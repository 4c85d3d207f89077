// Adam as a loop over one range of parameters, on the calling thread.
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL::kernels {

// Adam and AdamW. The state is m, v and, with amsgrad, the maximum v so far.
void adam_step(const UpdateRange& range);

}  // namespace heed::inline HEED_REAL::kernels
