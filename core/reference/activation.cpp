// y = φ(x), dx = dy φ'(x), element by element. bound(n) is n, and write() writes or adds
// (core/reference/reference.h).
#include "core/reference/activation.h"

#include "core/autograd.h"
#include "core/ops/fused.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL {

Tensor fused::activate(Activation function, const Tensor& x) {
  const activations::Row& phi = activations::row_of(function);
  Tensor y = Tensor::empty(x.shape());
  const real* const from = x.data();
  real* const to = y.mutable_data();
  for (int64_t i = 0; i < kernels::bound(x.size()); ++i)
    to[i] = static_cast<real>(phi.value(double{from[i]}));
  return record(name_of(function), y, {x}, [&phi, xs = saved(x, x)](Backward& g) {
    const real *const dy = g.dy(), *const at = xs.data();
    const Destination dx = g.into(0);  // dx += dy φ'(x)
    for (int64_t i = 0; i < kernels::bound(g.size()); ++i)
      kernels::write(dx, i, dy[i] * phi.slope(double{at[i]}));
  });
}

}  // namespace heed::inline HEED_REAL
