// A figure for a paper: the curves of one score, as an SVG file that needs nothing else.
#pragma once

#include <string>

#include "lab/report/charts.h"

namespace heed {

// Returns the lines of a chart with their bands, axis titles with units, and a legend. Lines differ
// in colour and in dashes. `bands`: what a band is, for the caption.
std::string figure_svg(const Chart& chart, const std::string& bands);

}  // namespace heed
