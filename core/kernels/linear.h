// The backward of a linear layer with a weight small enough to stay in a cache, by blocks of rows.
//
//   y = φ(h),  h = x wᵀ + b:      dh = dy φ'(h),  dx = dh w,  dw = dhᵀ x,  db = Σₙ dhₙ
//
// As three products of their own these would read dh and x three times, and dw all rows of both,
// half of which were written by another thread and lie in its cache. Instead a thread takes a block
// of rows, its own from the operations before, and does all of it while dh is in the first cache;
// what it finds for dw and db is kept apart, and the parts are added up at the end, in their order.
#pragma once

#include "core/activation.h"
#include "core/destination.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

struct LinearSizes {
  int64_t rows, inputs, outputs;

  // Whether this is the way for a layer of these sizes.
  bool by_blocks() const;
  int64_t block_rows() const;
  int64_t blocks() const { return (rows + block_rows() - 1) / block_rows(); }
  // Numbers of scratch memory: the parts of dw and db, and dh where there is a nonlinearity.
  int64_t scratch(Activation function) const;
};

// dy (rows, outputs), x (rows, inputs), w (outputs, inputs); `kept` (rows, outputs) is what
// activate() left for the derivative, or null. A gradient whose `data` is null is not wanted, and
// then neither is what only it needs: w for dx, x for dw.
void linear_backward(const LinearSizes& n, Activation function, const real* dy, const real* kept,
                     const real* x, const real* w, Destination dx, Destination dw, Destination db,
                     real* scratch, Precision precision);

}  // namespace heed::inline HEED_REAL::kernels
