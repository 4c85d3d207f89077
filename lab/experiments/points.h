// The points of a sweep: its values of the keys that vary.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/config.h"
#include "lab/experiments/sweep_options.h"

namespace heed {

struct Point {
  std::string name;  // "lr=0.001,kind=rotary", a name for a folder; "" if nothing varies
  std::vector<std::pair<std::string, AxisValue>> values;  // by key
};

// Returns all combinations, the last axis varying fastest; for method = "random" random.count
// different ones. A larger random.count keeps those of a smaller one, and adds to them.
std::vector<Point> points_of(const Sweep& sweep);

// Orders runs as the points of their sweep.
class SweepOrder {
 public:
  explicit SweepOrder(const Sweep& sweep);  // computes its points
  // Returns the place of a run with this config; after all others if it is at no point.
  size_t rank(const ConfigListing& config) const;

 private:
  std::vector<std::string> keys_;
  std::map<std::vector<std::string>, size_t> ranks_;  // by the values of the keys
};

// Returns a text that is a name on every file system. One that is too long or has other characters
// than those of numbers and words is shortened, and gets a hash at its end.
std::string folder_name(const std::string& text);

}  // namespace heed
