// Softmax and its logarithm along the middle axis of (outer, length, inner), computed from
// differences to the greatest number, so that nothing overflows. What is -inf throughout has
// softmax 0, log softmax -inf, and zero gradients.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct AlongAxis {
  int64_t outer, length, inner;
};

void softmax_forward(const AlongAxis& n, const real* x, real* y);
void softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx);
void log_softmax_forward(const AlongAxis& n, const real* x, real* y);
void log_softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
