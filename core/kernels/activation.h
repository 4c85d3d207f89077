// An activation fused into a matrix product, y = φ(h), applied while h is still in the cache.
//
// What the backward pass keeps depends on the activation (core/activation.h): y, if φ'(h) follows
// from it, because the next operation keeps y anyway; else φ'(h), which is cheap to compute
// together with φ(h).
#pragma once

#include <cstdint>

#include "core/activation.h"
#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// Whether backward keeps φ'(h). If not, it keeps y.
bool keeps_slope(Activation function);

// Overwrites h in y with φ(h), and stores φ'(h) in `slope`, which has the same layout, if it is not
// null. rows × width elements, `leading` from row to row. Runs on the calling thread.
void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope);

// dh = dy φ'(h), from what was kept. Runs on the calling thread.
void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh);

}  // namespace heed::inline HEED_REAL::kernels
