// A linear layer, with an activation φ or without one:
//
//   y = φ(h),  h = x wᵀ + b            x (rows, inputs), w (outputs, inputs), b (outputs)
//
// The activations have their formulas in core/activation.h.
#include "core/kernels/linear.h"

#include "core/observer.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// y[n, o] = φ(Σᵢ x[n, i] w[o, i] + b[o])
void linear_forward(const LinearSizes& n, Activation activation, const real* x, const real* w,
                    const real* b, real* y, real* slope) {
  report_products(n.rows, n.outputs, n.inputs);
  for (int64_t row = 0; row < bound(n.rows); ++row)
    for (int64_t o = 0; o < n.outputs; ++o) {
      double h = 0;
      for (int64_t i = 0; i < n.inputs; ++i)
        h += double{x[row * n.inputs + i]} * w[o * n.inputs + i];
      y[row * n.outputs + o] = h + (b ? b[o] : 0);
    }
  if (scope().shapes_only) return;
  activate(activation, n.rows, n.outputs, n.outputs, y, slope);
}

// There are no bfloat16 products here, so x is never packed.
PackedInput packed_input(const LinearSizes&) { return {0, 0}; }
void pack_input(const LinearSizes&, const real*, uint32_t*) {}

// With dh = dy φ'(h):
//   dx[n, i] = Σₒ dh[n, o] w[o, i],   dw[o, i] = Σₙ dh[n, o] x[n, i],   db[o] = Σₙ dh[n, o]
void linear_backward(const LinearSizes& n, Activation activation, const LinearOperands& from,
                     const LinearGradients& to) {
  const real *const dy = from.dy, *const kept = from.kept, *const x = from.x.elements,
                    *const w = from.w;
  report_products(n.rows, n.inputs, n.outputs, (to.dx.data != nullptr) + (to.dw.data != nullptr));
  const auto dh = [&](int64_t row, int64_t o) {
    const int64_t at = row * n.outputs + o;
    real result = dy[at];
    if (activation != Activation::none)
      activate_backward(activation, 1, dy + at, kept + at, &result);
    return double{result};
  };
  for (int64_t row = 0; row < bound(to.dx.data ? n.rows : 0); ++row)
    for (int64_t i = 0; i < n.inputs; ++i) {
      double sum = 0;
      for (int64_t o = 0; o < n.outputs; ++o) sum += dh(row, o) * w[o * n.inputs + i];
      write(to.dx, row * n.inputs + i, sum);
    }
  for (int64_t o = 0; o < bound(to.dw.data ? n.outputs : 0); ++o)
    for (int64_t i = 0; i < n.inputs; ++i) {
      double sum = 0;
      for (int64_t row = 0; row < n.rows; ++row) sum += dh(row, o) * x[row * n.inputs + i];
      write(to.dw, o * n.inputs + i, sum);
    }
  for (int64_t o = 0; o < bound(to.db.data ? n.outputs : 0); ++o) {
    double sum = 0;
    for (int64_t row = 0; row < n.rows; ++row) sum += dh(row, o);
    write(to.db, o, sum);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
