// What tests of tensors compare: the elements of a tensor, infinity and NaN.
#pragma once

#include <limits>
#include <vector>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

inline constexpr real infinity = std::numeric_limits<real>::infinity();
inline constexpr real nan = std::numeric_limits<real>::quiet_NaN();

// The elements of a tensor, in row-major order.
inline std::vector<real> elements(const Tensor& x) {
  return {x.values().begin(), x.values().end()};
}

}  // namespace heed::inline HEED_REAL
