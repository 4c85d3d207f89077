// The sublayers of the exercise residual-block.
#pragma once

#include <functional>

#include "core/ops.h"

namespace heed::course {

using Sublayer = std::function<Tensor(const Tensor& x)>;  // (T, D) → (T, D)

inline constexpr real norm_epsilon = real{1e-5};

}  // namespace heed::course
