// The median of scores, and of the times of a repeated computation.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/support/clock.h"
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

// Calls f for so many seconds, at least three times. Returns the seconds of each call.
template <class F>
std::vector<double> seconds_of(double seconds, F&& f) {
  std::vector<double> times;
  for (const double end = now() + seconds; times.size() < 3 || now() < end;) {
    const double start = now();
    f();
    times.push_back(now() - start);
  }
  return times;
}

}  // namespace heed
