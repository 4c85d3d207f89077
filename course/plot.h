// Figures of the course, written as SVG by C++ blocks: lines, points, and heat maps.
//
//   plot::Lines figure{"Softmax", "score", "weight"};
//   figure.add("τ = 1", x, y);
//   figure.add_points("measured", x, measured);
//   figure.save("figures/softmax.svg");
//
//   plot::heat_map("figures/mask.svg", {"Mask", "key", "query"}, mask);
//
// apps/support/canvas.h draws them.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace heed::plot {

using Values = std::vector<double>;

// Lines and points over shared axes. With log_x or log_y all values along that axis must be
// positive.
struct Lines {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;

  struct Line {
    std::string label;
    Values x, y;
    bool joined = true;
  };
  std::vector<Line> lines = {};

  // Both throw Error unless there are as many y as x, and at least one.
  void add(const std::string& label, const Values& x, const Values& y);
  void add_points(const std::string& label, const Values& x, const Values& y);
  // Throws Error if there are no lines or the file cannot be written.
  void save(const std::string& path) const;
};

struct HeatMapText {
  std::string title, x_label, y_label;
  std::vector<std::string> rows = {}, columns = {};  // labels; none: indices
};

// A matrix as cells: blue above 0, red below, darker the larger. Small matrices show their values.
void heat_map(const std::string& path, const HeatMapText& text, const Tensor& values);

}  // namespace heed::plot
