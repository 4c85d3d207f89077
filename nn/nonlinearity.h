// Nonlinearities by their names in a config.
#pragma once

#include "core/nonlinearity.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

inline constexpr const char* nonlinearity_names[] = {"none",      "relu", "gelu",
                                                     "gelu_tanh", "silu", "tanh"};

Tensor apply(Nonlinearity function, const Tensor& x);

}  // namespace heed::inline HEED_REAL
