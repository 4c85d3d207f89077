// Layer norm (Ba, Kiros & Hinton 2016) and RMS norm (Zhang & Sennrich 2019) over rows:
//
//   layer   y = x̂ · weight + bias,  x̂ = (x - mean) · scale,  scale = 1 / √(variance + epsilon)
//   RMS     y = x̂ · weight,         x̂ = x · scale,           scale = 1 / √(mean(x²) + epsilon)
//
// x, y (rows, width); weight, bias (width); mean, scale (rows), which backward needs. Backward,
// with h = dy · weight; for RMS norm mean(h) is left out:
//
//   dx = scale (h - mean(h) - x̂ mean(h x̂)),   dweight = Σₙ dy · x̂,   dbias = Σₙ dy
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct NormSizes {
  int64_t rows, width;
};

void layer_norm_forward(const NormSizes& n, real epsilon, const real* x, const real* weight,
                        const real* bias, real* y, real* mean, real* scale);
void rms_norm_forward(const NormSizes& n, real epsilon, const real* x, const real* weight, real* y,
                      real* scale);

// For dbias only `dy` is read; the others may be null then. RMS norm does not read `mean`.
struct NormBackwardInputs {
  const real *dy, *x, *weight, *mean, *scale;
};

// Gradients to compute; those whose `data` is null are not. RMS norm has no bias.
struct NormGradients {
  Destination dx, dweight, dbias;
};

void layer_norm_backward(const NormSizes& n, const NormBackwardInputs& in, const NormGradients& to);
void rms_norm_backward(const NormSizes& n, const NormBackwardInputs& in, const NormGradients& to);

}  // namespace heed::inline HEED_REAL::kernels
