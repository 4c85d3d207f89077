// Functions of one number that a layer may apply to what it gives.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL {

enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh };

}  // namespace heed::inline HEED_REAL
