// The gradient of broadcasting: what was repeated receives the sum of the gradients of its copies.
#include <vector>

#include "core/kernels/axes.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// to[k] = Σ from[i], over the elements i that broadcasting makes of element k
void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to) {
  std::vector<double> sums(static_cast<size_t>(target.size()));
  const Axes<1> axes = broadcast_axes(shape, target);
  for (int64_t i = 0; i < bound(shape.size()); ++i)
    sums[static_cast<size_t>(axes.offsets(i)[0])] += from[i];
  for (int64_t k = 0; k < bound(target.size()); ++k) write(to, k, sums[static_cast<size_t>(k)]);
}

}  // namespace heed::inline HEED_REAL::kernels
