// Where a kernel writes its result, and whether it overwrites or accumulates.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL {

// So no gradient is ever filled with zeros first, and a matrix product adds in place.
struct Destination {
  real* data;
  bool accumulate;
};

}  // namespace heed::inline HEED_REAL
