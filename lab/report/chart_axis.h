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

// A schedule of rates is known by its linear shape, and a speed has dips that say little.
inline bool is_linear(const std::string& name) { return name == "lr" || name == "tokens_per_s"; }

// Where values span more than a factor of 30.
inline bool is_logarithmic(const std::string& name, const Limits& limits) {
  return limits.lowest > 0 && limits.highest > 30 * limits.lowest && !is_linear(name);
}

}  // namespace heed
