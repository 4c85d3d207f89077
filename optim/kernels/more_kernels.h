// The loops of other rules, and of averages of weights, on the calling thread. The formulas are in
// optim/sgd.cpp and optim/average.h.
#pragma once

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL::kernels {

// The state is b, if there is momentum.
void sgd_step(const UpdateRange& range);

// average[i] += (1 - decay) · (w[i] - average[i]), i < n: the formula of torch.lerp.
void ema_step(int64_t n, double decay, const real* w, real* average);
// mean[i] = the mean of arrays[k][i] over k, i < n, summed in double in the order of k.
void mean_of(int64_t n, std::span<const real* const> arrays, real* mean);

}  // namespace heed::inline HEED_REAL::kernels
