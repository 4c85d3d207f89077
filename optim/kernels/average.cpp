#include "optim/kernels/more_kernels.h"

namespace heed::inline HEED_REAL::kernels {

void ema_step(int64_t n, double decay, const real* w, real* average) {
  const real rest = static_cast<real>(1 - decay);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) average[i] += rest * (w[i] - average[i]);
}

void mean_of(int64_t n, std::span<const real* const> arrays, real* mean) {
  const double factor = 1.0 / static_cast<double>(arrays.size());
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (const real* const array : arrays) sum += array[i];
    mean[i] = static_cast<real>(sum * factor);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
