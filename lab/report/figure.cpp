#include "lab/report/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/scores.h"
#include "apps/support/axis.h"
#include "apps/support/canvas.h"
#include "apps/support/names.h"

namespace heed {
namespace {

// The size of a figure and of its parts, in pixels.
struct Size {
  static constexpr double width = 720, left = 76, right = 20, top = 16, plot = 320, below = 52,
                          row = 20;
  static constexpr size_t points = 1000;  // of a line
};

// What the values of a curve are counted in.
std::string unit_of(const std::string& name) {
  const Score* const score = find_score(name);
  return score && *score->unit ? fmt::format(" ({})", score->unit) : "";
}

std::vector<std::pair<double, double>> points_of(const std::vector<double>& steps,
                                                 const std::vector<double>& values,
                                                 const PlotAxis& x, const PlotAxis& y) {
  std::vector<std::pair<double, double>> points;
  for (size_t i = 0; i < steps.size(); ++i)
    points.emplace_back(x.pixel(steps[i]), y.pixel(values[i]));
  return points;
}

}  // namespace

std::string figure_svg(const Chart& chart, const std::string& bands) {
  double last = 0;
  std::vector<double> values;
  bool has_bands = false;
  for (const ChartLine& line : chart.lines) {
    if (!line.curve.steps.empty()) last = std::max(last, line.curve.steps.back());
    for (const auto* part : {&line.curve.values, &line.low, &line.high})
      values.insert(values.end(), part->begin(), part->end());
    has_bands = has_bands || !line.low.empty();
  }
  if (values.empty()) values = {0, 1};
  const auto [lowest, highest] = std::ranges::minmax(values);
  const bool log = !is_linear(chart.name) && wants_log(lowest, highest);
  const PlotAxis x(0, last, false, Size::left, Size::width - Size::right),
      y(lowest, highest, log, Size::top + Size::plot, Size::top);
  const std::string title =
      curve_title(chart.name) + unit_of(chart.name) + (log ? ", logarithmic" : "");
  const double height = Size::top + Size::plot + Size::below +
                        Size::row * static_cast<double>(chart.lines.size() + (has_bands ? 1 : 0));
  Canvas canvas;
  canvas.axes(x, y, "training step", title);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    if (line.low.empty()) continue;
    auto band = points_of(line.curve.steps, line.low, x, y);
    const auto high = points_of(line.curve.steps, line.high, x, y);
    band.insert(band.end(), high.rbegin(), high.rend());
    canvas.band(i, band);
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const Curve& curve = chart.lines[i].curve;
    const auto whole = points_of(curve.steps, curve.values, x, y);
    std::vector<std::pair<double, double>> points;
    for (const size_t kept : thinned(curve.values, Size::points)) points.push_back(whole[kept]);
    const double at = Size::top + Size::plot + Size::below + Size::row * static_cast<double>(i) + 4;
    canvas.line(i, points);
    canvas.legend(i, Size::left, at, chart.lines[i].label);
  }
  if (has_bands)
    canvas.text(Size::left, height - Size::row / 2 + 2, "start", bands, "fill=\"#666\"");
  return canvas.svg(Size::width, height, title, 13);
}

}  // namespace heed
