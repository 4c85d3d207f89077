// A linear layer, with an activation φ or without one:
//
//   y = φ(h),  h = x wᵀ + b            x (rows, inputs), w (outputs, inputs), b (outputs)
//   dh = dy φ'(h),  dx = dh w,  dw = dhᵀ x,  db = Σₙ dh[n]
//
// Forward is a matrix product whose epilogue applies φ to each block of h while it is in the cache.
//
// Backward is two matrix products and a sum. If w is small enough for the L2 cache, a thread does
// all three for one block of rows after the other, while dy and x of the block are in its cache;
// the blocks' dw and db are added up at the end, in order.
#pragma once

#include <cstdint>

#include "core/activation.h"
#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// Whether backward keeps φ'(h), which is cheap to compute together with φ(h). If not, it keeps y,
// from which φ'(h) follows and which the next operation keeps anyway.
bool keeps_slope(Activation function);
// Overwrites h in y with φ(h), and stores φ'(h) in `slope`, which has the same layout, if it is not
// null. rows × width elements, `leading` from row to row. Runs on the calling thread.
void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope);
// dh = dy φ'(h), from what was kept. Runs on the calling thread.
void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh);

struct LinearSizes {
  int64_t rows, inputs, outputs;
};

// `slope` (rows, outputs) receives φ'(h), which backward needs if keeps_slope(activation). `b` and
// `slope` may be null.
void linear_forward(const LinearSizes& n, Activation activation, const real* x, const real* w,
                    const real* b, real* y, real* slope);

// Gradients to compute; those whose `data` is null are not.
struct LinearGradients {
  Destination dx, dw, db;
};

// `kept` (rows, outputs) is the slope if keeps_slope(activation), else y; not read without an
// activation. `w` is read only for dx, and `x` only for dw.
void linear_backward(const LinearSizes& n, Activation activation, const real* dy, const real* kept,
                     const real* x, const real* w, const LinearGradients& to);

// Without an activation: dh = dy.
inline void linear_backward(const LinearSizes& n, const real* dy, const real* x, const real* w,
                            const LinearGradients& to) {
  linear_backward(n, Activation::none, dy, nullptr, x, w, to);
}

}  // namespace heed::inline HEED_REAL::kernels
