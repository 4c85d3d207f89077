// Maxima of x over the axes in which it broadcasts.
#include "core/kernels/axes.h"
#include "core/kernels/more_kernels.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// y[k] = max x[i], over the elements i of `shape` that broadcasting makes of element k of `target`:
// NaN if there is one, -inf if there is nothing
void max_to(const real* from, const Shape& shape, const Shape& target, real* to) {
  for (int64_t k = 0; k < bound(target.size()); ++k) to[k] = -INFINITY;
  const Axes<1> axes = broadcast_axes(shape, target);
  for (int64_t i = 0; i < bound(shape.size()); ++i) {
    real& maximum = to[axes.offsets(i)[0]];
    if (from[i] > maximum || std::isnan(from[i])) maximum = from[i];
  }
}

}  // namespace heed::inline HEED_REAL::kernels
