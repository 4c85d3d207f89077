// A linear layer, with an activation φ or without one:
//
//   y = φ(h),  h = x wᵀ + b            x (rows, inputs), w (outputs, inputs), b (outputs)
//   dh = dy φ'(h),  dx = dh w,  dw = dhᵀ x,  db = Σₙ dh[n]
//
// Forward is a matrix product whose epilogue applies φ to each block of h while it is in the cache.
// For the derivative it keeps y, if φ' is a function of y (relu, tanh), else φ'(h).
//
// Backward is two matrix products and a sum. If w is small enough for the L2 cache, a thread does
// all three for one block of rows after the other, while dy and x of the block are in its cache;
// the blocks' dw and db are added up at the end, in order.
#pragma once

#include <cstdint>

#include "core/activation.h"
#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

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

// The temporary memory of linear_backward(), in elements.
int64_t linear_backward_scratch(const LinearSizes& n, Activation activation);

}  // namespace heed::inline HEED_REAL::kernels
