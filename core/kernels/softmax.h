// Softmax and log softmax along the middle axis of (outer, length, inner):
//
//   softmax(x)[i] = exp(x[i] - m) / Σⱼ exp(x[j] - m),   m = max x, so that nothing overflows
//
// If all x[i] are -inf, softmax is 0, log softmax is -inf, and gradients are 0.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// The axis, and the products of the lengths before and after it.
struct AlongAxis {
  int64_t outer, length, inner;
};

void softmax_forward(const AlongAxis& n, const real* x, real* y);
void softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx);
void log_softmax_forward(const AlongAxis& n, const real* x, real* y);
void log_softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
