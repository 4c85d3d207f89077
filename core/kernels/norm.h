// Layer norm and RMS norm over rows. x, y (rows, width); weight, bias (width). For backward only
// the mean and the scale of each row are kept (for RMS norm, the scale), not the normalised row.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// y = (x - mean) · scale · weight + bias; mean, scale = 1 / √(variance + epsilon) (rows)
void layer_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x,
                        const real* weight, const real* bias, real* y, real* mean, real* scale);

// y = x · scale · weight; scale = 1 / √(mean(x²) + epsilon) (rows)
void rms_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x, const real* weight,
                      real* y, real* scale);

// The number of pieces of the rows over which the gradients of weight and bias are summed. It
// depends only on the shape.
int64_t norm_pieces(int64_t rows, int64_t width);

// With x̂ = (x - mean) · scale and h = dy · weight:
//   dx     = scale (h - mean(h) - x̂ mean(h x̂))         not computed if dx.data is null
//   dw, db = Σ dy · x̂, Σ dy over each piece              (norm_pieces, width) each, or null
// If only db is computed, x, weight, mean and scale may be null.
void layer_norm_backward(int64_t rows, int64_t width, const real* dy, const real* x,
                         const real* weight, const real* mean, const real* scale, Destination dx,
                         real* dw, real* db);

// With x̂ = x · scale and h = dy · weight: dx = scale (h - x̂ mean(h x̂)), dw as above.
void rms_norm_backward(int64_t rows, int64_t width, const real* dy, const real* x,
                       const real* weight, const real* scale, Destination dx, real* dw);

}  // namespace heed::inline HEED_REAL::kernels
