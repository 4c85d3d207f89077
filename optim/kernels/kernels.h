// The update rules of optimizers as loops over one range of parameters, on the calling thread. The
// formulas are in optim/reference.
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL::kernels {

// Adam and AdamW. The state is m, v and, with amsgrad, the maximum v so far.
void adam_step(const UpdateRange& range);
// The state is b, if there is momentum.
void sgd_step(const UpdateRange& range);

// average[i] += (1 - decay) · (w[i] - average[i]), i < n: the formula of torch.lerp.
void ema_step(int64_t n, double decay, const real* w, real* average);
// mean[i] = the mean of arrays[k][i] over k, i < n, summed in double in the order of k.
void mean_of(int64_t n, std::span<const real* const> arrays, real* mean);

}  // namespace heed::inline HEED_REAL::kernels
