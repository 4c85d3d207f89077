// The charts of a report: curves of runs that share axes, as JSON for the page, which draws them.
//
//   {"title": "Loss", "name": "loss", "ratio": false, "fraction": false, "from_zero": false,
//    "lines": [{"label": "validation", "colour": 1, "x": [50, 100], "y": [0.7, 0.5]}, …]}
//
// A loss whose examples have references (data/options.h: data.kind = "examples") has "best", the
// best possible one. A mean over seeds also has "low" and "high", the limits of its band, "dash",
// and "seeds": [{"x", "y"}, …], the curve of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "lab/experiments/curves.h"

namespace heed {

struct ChartLine {
  std::string label;
  int64_t colour = 0;
  Curve curve;
  std::vector<double> low = {}, high = {};  // a band, or empty
  int64_t dash = 0;
  std::vector<Curve> seeds = {};  // what the line is the mean of
};

struct Chart {
  std::string title, name;
  std::vector<ChartLine> lines;
  bool by_ratio = false;            // on a logarithmic axis, whatever its values span
  std::optional<double> best = {};  // the best possible value, if the data say it
};

// Returns the chart of this name, which is added if there is none.
Chart& chart_named(std::vector<Chart>& charts, const std::string& name, const std::string& title);

inline constexpr size_t max_points = 2000;  // of a line

// Returns a chart as JSON. Lines are thinned to `points`, those of seeds to a quarter of that.
Json chart_json(const Chart& chart, size_t points = max_points);

// Returns whether a curve has a linear axis whatever its values span: a schedule of rates is known
// by its linear shape, and a speed has dips that say little.
bool is_linear(const std::string& name);
// Returns whether a curve has a chart among the curves of a run: counts of examples and targets
// have none.
bool is_charted(const std::string& curve);

// Returns a text that is not empty with spaces for underscores, and a capital letter first.
std::string as_title(std::string text);
// Returns what people call a curve: "val.token_accuracy" → "Validation token accuracy".
std::string curve_title(const std::string& name);

}  // namespace heed
