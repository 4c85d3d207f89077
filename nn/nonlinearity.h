// Functions of one number that a layer may apply to what it gives.
#pragma once

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

enum class Nonlinearity { none, relu, gelu, gelu_tanh, silu, tanh };
inline constexpr const char* nonlinearity_names[] = {"none",      "relu", "gelu",
                                                     "gelu_tanh", "silu", "tanh"};

Tensor apply(Nonlinearity function, const Tensor& x);

}  // namespace heed::inline HEED_REAL
