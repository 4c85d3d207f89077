// Averages of weights (optim/average.h).
#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL::kernels {

void ema_step(int64_t n, double decay, const real* w, real* average) {
  for (int64_t i = 0; i < n; ++i) average[i] = decay * average[i] + (1 - decay) * w[i];
}

void mean_of(int64_t n, std::span<const real* const> arrays, real* mean) {
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (const real* const array : arrays) sum += array[i];
    mean[i] = sum / static_cast<double>(arrays.size());
  }
}

}  // namespace heed::inline HEED_REAL::kernels
