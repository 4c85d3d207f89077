// Squared error.
#include "core/kernels/more_kernels.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// Σᵢ (x[i] - y[i])²
double squared_distance(int64_t n, const real* x, const real* y) {
  double sum = 0;
  for (int64_t i = 0; i < bound(n); ++i) sum += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
  return sum;
}

// to[i] = factor (x[i] - y[i])
void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to) {
  for (int64_t i = 0; i < bound(n); ++i) write(to, i, factor * (double{x[i]} - y[i]));
}

}  // namespace heed::inline HEED_REAL::kernels
