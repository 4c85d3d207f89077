// A figure for a paper: curves of one or several scores, as an SVG file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "lab/report/charts.h"

namespace heed {

// The horizontal axis, which all panels of a figure share.
struct FigureAxis {
  std::string title = "training step";
  bool log = false;  // values that are not positive are left out
};

// Returns a figure with a panel for each chart, one below the other: its lines with their bands and
// axis titles with units. One legend has all lines. Lines have their colours and dashes.
// `bands`: what a band is, for the caption.
std::string figure_svg(const std::vector<Chart>& panels, const FigureAxis& axis,
                       const std::string& bands);

}  // namespace heed
