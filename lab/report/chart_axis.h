// The limits of an axis, and whether it is logarithmic.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace heed {

struct Limits {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;

  void include(const std::vector<double>& values) {
    for (const double value : values) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
};

// Where values span more than a factor of 30; a schedule of rates is known by its linear shape.
inline bool is_logarithmic(const std::string& name, const Limits& limits) {
  return limits.lowest > 0 && limits.highest > 30 * limits.lowest && name != "lr";
}

}  // namespace heed
