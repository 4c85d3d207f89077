// What the norms keep for backward.
#pragma once

#include "core/autograd.h"
#include "core/kernels/kernels.h"

namespace heed::inline HEED_REAL {

// The inputs and results of kernels::norm_forward(). RMS norm has neither b nor mean.
struct NormBackward {
  kernels::Rows n;
  real epsilon;
  Saved x, w, b, mean, scale;
  void operator()(Backward& g);
};

}  // namespace heed::inline HEED_REAL
