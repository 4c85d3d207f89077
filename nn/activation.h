// Nonlinearities by their names in a config.
#pragma once

#include "core/activation.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

inline constexpr const char* activation_names[] = {"none",      "relu", "gelu",
                                                   "gelu_tanh", "silu", "tanh"};

Tensor apply(Activation function, const Tensor& x);

}  // namespace heed::inline HEED_REAL
