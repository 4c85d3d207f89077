// The points of a sweep: its values of the keys that vary.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/experiments/sweep_options.h"

namespace heed {

struct Point {
  std::string name;  // "lr=0.001,kind=rotary", a name for a folder; "" if nothing varies
  std::vector<std::pair<std::string, AxisValue>> values;  // by key
};

// Returns all combinations, the last axis varying fastest; for method = "random" random.count
// different ones. A larger random.count keeps those of a smaller one, and adds to them.
std::vector<Point> points_of(const Sweep& sweep);

// Returns a text that is a name on every file system. One that is too long or has other characters
// than those of numbers and words is shortened, and gets a hash at its end.
std::string folder_name(const std::string& text);

}  // namespace heed
