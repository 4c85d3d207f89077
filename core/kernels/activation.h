// A nonlinearity on top of a matrix product, y = φ(h), while h is still in the cache.
//
// What its derivative is made of is kept: y, where φ'(h) can be told from it (relu, tanh), so that
// nothing more is needed than what the next operation keeps anyway; else φ'(h) itself, which costs
// little where φ(h) has just been computed, and takes the place of h.
#pragma once

#include <cstdint>

#include "core/activation.h"
#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// Whether φ'(h) must be kept; else y does.
bool keeps_slope(Activation function);

// rows × width numbers with `leading` from row to row, on the calling thread: y holds h and becomes
// φ(h), and `slope`, laid out alike, φ'(h), if it is not null.
void activate(Activation function, int64_t rows, int64_t width, int64_t leading, real* y,
              real* slope);

// dh = dy φ'(h), from the slope or from y; on the calling thread.
void activate_backward(Activation function, int64_t n, const real* dy, const real* kept, real* dh);

}  // namespace heed::inline HEED_REAL::kernels
