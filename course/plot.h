// Figures of the course, written as SVG by C++ blocks: lines, and heat maps.
//
//   plot::Lines figure{"Softmax", "score", "weight"};
//   figure.add("T = 1", x, y);
//   figure.save("figures/softmax.svg");
//
//   plot::heat_map("figures/mask.svg", {"Mask", "key", "query"}, mask);
//
// A figure has a white ground of its own, so that it can be read on a light and on a dark page. The
// colours of lines are those of Okabe and Ito (2008), safe for the colour-blind, and lines differ
// in their dashes too.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace heed::plot {

using Values = std::vector<double>;

// Lines over shared axes. With log_x or log_y all values along that axis must be positive.
struct Lines {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;

  struct Line {
    std::string label;
    Values x, y;
  };
  std::vector<Line> lines = {};

  // Throws Error unless there are as many y as x, and at least one.
  void add(const std::string& label, const Values& x, const Values& y);
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
