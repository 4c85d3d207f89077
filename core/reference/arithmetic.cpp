// Sums and products of the elements of two arrays, which broadcast, and of an array and a number.
#include "core/kernels/axes.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = f(a[j], b[k]), where broadcasting repeats elements j and k at element i of `whole`
template <class F>
static void combine(const Shape& whole, const Operand<real>& a, const Operand<real>& b,
                    Destination to, F f) {
  const Axes<2> axes = broadcast_axes(whole, a.shape, b.shape);
  for (int64_t i = 0; i < bound(whole.size()); ++i) {
    const auto [j, k] = axes.offsets(i);
    write(to, i, f(a.data[j], b.data[k]));
  }
}

void add(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to) {
  combine(whole, a, b, to, [](double p, double q) { return p + q; });
}

void multiply(const Shape& whole, const Operand<real>& a, const Operand<real>& b, Destination to) {
  combine(whole, a, b, to, [](double p, double q) { return p * q; });
}

// to[i] = factor · x[i]
void scale(int64_t n, const real* x, real factor, Destination to) {
  for (int64_t i = 0; i < bound(n); ++i) write(to, i, double{factor} * x[i]);
}

}  // namespace heed::inline HEED_REAL::kernels
