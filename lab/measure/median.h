// The median of measurements and of scores.
#pragma once

#include <algorithm>
#include <vector>

#include "core/check.h"

namespace heed {

// Returns the middle value, or the mean of the two middle ones. Values may be infinite. Throws
// Error without values.
inline double median_of(std::vector<double> values) {
  check(!values.empty(), "the median of no values");
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1 || values[middle - 1] == values[middle]) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;
}

}  // namespace heed
