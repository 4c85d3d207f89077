// Where a gradient or a result is written, and whether it is added to what is there.
#pragma once

#include "core/real.h"

namespace heed::inline HEED_REAL {

// So no gradient is ever filled with zeros first, and a matrix product adds in place.
struct Destination {
  real* data;
  bool accumulate;
};

}  // namespace heed::inline HEED_REAL
