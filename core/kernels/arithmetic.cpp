#include "core/kernels/kernels.h"
#include "core/kernels/map.h"

namespace heed::inline HEED_REAL::kernels {

void add(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to) {
  map_broadcast(
      whole, to, [](real p, real q) { return p + q; }, a, b);
}

void multiply(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to) {
  map_broadcast(
      whole, to, [](real p, real q) { return p * q; }, a, b);
}

void scale(int64_t n, const real* x, real factor, Destination to) {
  map(n, to, [=](int64_t i) { return factor * x[i]; });
}

}  // namespace heed::inline HEED_REAL::kernels
