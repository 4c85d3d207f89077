// Normalisers of attention scores other than softmax: hardmax, and division by the sum.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// y = 1 / n at the n elements of a row that equal its maximum, 0 elsewhere; x, y (rows, width). A
// row of only -inf gives zeros; a row with a NaN gives NaN everywhere.
void hardmax(int64_t rows, int64_t width, const real* x, real* y);

// y = x / Σ x for each row, or zeros if Σ x ≤ least. `sums` (rows) receives Σ x, or 0 in that case.
void sum_normalize_forward(int64_t rows, int64_t width, real least, const real* x, real* y,
                           real* sums);
// dx = (dy - Σ dy y) / Σ x, or zeros if `sums` is 0
void sum_normalize_backward(int64_t rows, int64_t width, const real* dy, const real* y,
                            const real* sums, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
