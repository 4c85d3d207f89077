// Rows of weights that are not a softmax: the hardmax, and division by the sum.
#pragma once

#include <cstdint>

#include "core/kernels/destination.h"

namespace heed::inline HEED_REAL::kernels {

// 1 / ties at the greatest numbers of each row of x (rows, width), 0 elsewhere; zeros where all is
// -inf.
void hardmax(int64_t rows, int64_t width, const real* x, real* y);

// y = x / Σ x of each row, and zeros where that is ≤ least. `inverse` (rows) becomes 1 / Σ x, or 0
// there. Returns how many such rows there are.
int64_t sum_normalize_forward(int64_t rows, int64_t width, real least, const real* x, real* y,
                              real* inverse);
// dx = (dy - Σ dy y) / Σ x
void sum_normalize_backward(int64_t rows, int64_t width, const real* dy, const real* y,
                            const real* inverse, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
