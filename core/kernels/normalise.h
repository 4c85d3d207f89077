// Rows of weights that are not a softmax: the hardmax, and division by the sum.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// 1 / ties at the greatest numbers of each row of x (rows, width), 0 elsewhere; zeros where all is
// -inf, NaN throughout where there is one.
void hardmax(int64_t rows, int64_t width, const real* x, real* y);

// y = x / Σ x of each row, and zeros where that is ≤ least. `sums` (rows) becomes Σ x, or 0 there.
void sum_normalize_forward(int64_t rows, int64_t width, real least, const real* x, real* y,
                           real* sums);
// dx = (dy - Σ dy y) / Σ x, zeros where `sums` is 0
void sum_normalize_backward(int64_t rows, int64_t width, const real* dy, const real* y,
                            const real* sums, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
