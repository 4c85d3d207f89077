// Where a kernel puts its result: over what is there, or added to it.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL {

// So no gradient is ever filled with zeros first, and a matrix product adds in place.
struct Destination {
  real* data;
  bool accumulate;
};

}  // namespace heed::inline HEED_REAL
