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
  bool from_zero = true;
  std::vector<std::string> names = {};  // of 0, 1, 2, …, in place of numbers
};

inline constexpr const char* band_of_seeds = "mean over seeds; band: its 95 % interval";

// Returns the panels of a figure: charts of scores with the same last word share one. Of several
// scores of several groups the colour is that of the group, and the dashes are those of the score;
// else each line has both of its own.
std::vector<Chart> panels_of(const std::vector<const Chart*>& charts);

// Returns a figure with a panel for each chart, one below the other: its lines with their bands and
// axis titles with units. One legend has all lines. Lines have their colours and dashes.
// `bands`: what a band is, for the caption.
std::string figure_svg(const std::vector<Chart>& panels, const FigureAxis& axis,
                       const std::string& bands);

// Writes a figure as the name of the file says: SVG, or PDF or PNG, which the program rsvg-convert
// makes of it. Throws Error if that is missing or fails.
void write_figure(const std::string& file, const std::string& svg);

}  // namespace heed
