// The update rules of optimizers as loops over one range of parameters, on the calling thread: the
// formulas are in optim/adam.cpp and optim/sgd.cpp.
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL::kernels {

// Adam and AdamW. The state is m, v and, with amsgrad, the maximum v so far.
void adam_step(const UpdateRange& range);
// The state is b, if there is momentum.
void sgd_step(const UpdateRange& range);

}  // namespace heed::inline HEED_REAL::kernels
