// Turns queries and keys by an angle that grows with the position, so their product depends on the
// distance (Su et al. 2021, equations 14 to 16).
#include <cmath>

#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

// (a, b) → (a cos - b sin, a sin + b cos)
Tensor rotary(const Tensor& x, int64_t heads, const RotaryOptions& options) {
  check(x.rank() == 3, "rotary: x must be (batch, time, heads · width), got {}", x.shape());
  check(heads >= 1 && x.dim(2) % heads == 0 && x.dim(2) / heads % 2 == 0,
        "rotary: {} heads must divide the width of x {} into even widths, because columns are "
        "rotated in pairs",
        heads, x.shape());
  check(options.base > 0 && std::isfinite(options.base), "rotary: a base of {} is not positive",
        options.base);
  const kernels::RotarySizes n{x.dim(0), x.dim(1), heads, x.dim(2) / heads,
                               options.layout == RotaryLayout::interleaved};
  Tensor cosine = Tensor::empty({n.time, n.width / 2}), sine = Tensor::empty(cosine.shape());
  kernels::rotary_angles(n, options.base, options.first_position, cosine.mutable_data(),
                         sine.mutable_data());
  Tensor y = Tensor::empty(x.shape());
  kernels::rotate(n, 1, cosine.data(), sine.data(), x.data(), {y.mutable_data(), false});
  return record("rotary", y, {x},
                [n, cosines = saved(cosine, x), sines = saved(sine, x)](Backward& g) {
                  // dx += dy rotated back
                  kernels::rotate(n, -1, cosines.data(), sines.data(), g.dy(), g.into(0));
                });
}

}  // namespace heed::inline HEED_REAL
