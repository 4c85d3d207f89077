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
#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// Returns whether backward keeps φ'(h), which is cheap to compute together with φ(h), or h. If not,
// it keeps y, from which φ'(h) follows and which the next operation keeps anyway.
bool keeps_slope(Activation function);
// Overwrites h in y with φ(h), and stores φ'(h) in `slope`, which has the same layout, if it is not
// null. rows × width elements, `leading` from row to row. Runs on the calling thread.
void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope);
// y = φ(h), with the bits of activate(). Overwrites h, n elements, with φ'(h).
void activate_again(Activation function, int64_t n, real* h, real* y);
// dh = dy φ'(h), from what was kept; dh may be the slope. Runs on the calling thread.
void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh);
// The same from h, which dh replaces.
void activate_backward(Activation function, int64_t n, const real* dy, real* h);

struct LinearSizes {
  int64_t rows, inputs, outputs;
};

// `slope` (rows, outputs) receives φ'(h), which backward needs if keeps_slope(activation), or
// `hidden` h. `b`, `slope` and `hidden` may be null. If `packed_w` is not null, it is wᵀ packed
// ahead, and read in place of w.
void linear_forward(const LinearSizes& n, Activation activation, const real* x, const real* w,
                    const real* b, real* y, real* slope, const uint32_t* packed_w = nullptr,
                    real* hidden = nullptr);

// What dw = dhᵀ x reads of x: its elements, or, if they are null, panels.
struct LinearInput {
  const real* elements;
  const uint32_t* panels = nullptr;
};

// x packed ahead for dw (bfloat16/bfloat16.h), in parts of so many rows, one after the other. 0
// rows if dw reads elements: in all precisions but `medium`, and if the product is small.
struct PackedInput {
  int64_t rows_in_part, words;
  explicit operator bool() const { return rows_in_part > 0; }
  // Tells layouts of the same elements apart, for kept/forms.h: a reshape shares them.
  int64_t layout(const LinearSizes& n) const { return n.inputs << 24 | rows_in_part; }
};
PackedInput packed_input(const LinearSizes& n);
void pack_input(const LinearSizes& n, const real* x, uint32_t* panels);

// Gradients to compute; those whose `data` is null are not.
struct LinearGradients {
  Destination dx, dw, db;
};

// What backward reads. x may be null without dw, and w without dx.
struct LinearOperands {
  const real* dy;  // (rows, outputs)
  LinearInput x;
  const real* w;
  // (rows, outputs), null without an activation: the slope if keeps_slope(activation), else y; and
  // memory for dh, which may be the slope's. If `kept` is null, h is in `dh`.
  const real* kept = nullptr;
  real* dh = nullptr;
};

void linear_backward(const LinearSizes& n, Activation activation, const LinearOperands& from,
                     const LinearGradients& to);

}  // namespace heed::inline HEED_REAL::kernels
