// Copies an array.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = from[i], i < n
void copy(int64_t n, const real* from, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
