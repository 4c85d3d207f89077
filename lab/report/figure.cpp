#include "lab/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unistd.h>

#include "apps/inference/scores.h"
#include "apps/support/axis.h"
#include "apps/support/canvas.h"
#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/support/process.h"
#include "core/check.h"
#include "core/text.h"
#include "lab/experiments/score_kinds.h"

namespace heed {
namespace {

// The size of a figure and of its parts, in pixels.
struct Size {
  static constexpr double width = 720, left = 76, right = 20, top = 16, plot = 320, below = 52,
                          row = 20, letter = 6.5;
  static constexpr double panel = 220, gap = 44;  // a plot among several, and the space below it
  static constexpr size_t points = 1000;          // of a line
};

// What the values of a curve are counted in.
std::string unit_of(const std::string& name) {
  const Score* const score = find_score(name);
  return score && *score->unit ? fmt::format(" ({})", score->unit) : "";
}

using Points = std::vector<std::pair<double, double>>;

// Leaves out what a logarithmic axis does not have.
Points points_of(const std::vector<double>& steps, const std::vector<double>& values,
                 const PlotAxis& x, const PlotAxis& y, bool log_x) {
  Points points;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] > 0 || !log_x) points.emplace_back(x.pixel(steps[i]), y.pixel(values[i]));
  return points;
}

// The horizontal axis. One of names has room for half of one at its ends.
PlotAxis horizontal_axis(const std::vector<Chart>& panels, const FigureAxis& axis) {
  const double left = Size::left, right = Size::width - Size::right;
  if (!axis.names.empty())
    return {-0.5, static_cast<double>(axis.names.size()) - 0.5, false, left, right};
  double first = INFINITY, last = 0;
  for (const Chart& chart : panels)
    for (const ChartLine& line : chart.lines)
      for (const double step : line.curve.steps) {
        last = std::max(last, step);
        if (step > 0 || !axis.log) first = std::min(first, step);
      }
  if (last == 0) first = last = 1;
  return {axis.from_zero && !axis.log ? 0 : first, last, axis.log, left, right};
}

constexpr LineStyle best_style(6, 1);  // grey and dashed

// Draws a chart whose plot has these pixels from top to bottom. Returns the title of its axis.
std::string draw_panel(Canvas& canvas, const Chart& chart, const FigureAxis& axis,
                       const PlotAxis& x, double top, double bottom, bool is_last) {
  std::vector<double> values;
  for (const ChartLine& line : chart.lines)
    for (const auto* part : {&line.curve.values, &line.low, &line.high})
      values.insert(values.end(), part->begin(), part->end());
  if (values.empty()) values = {0, 1};
  auto [lowest, highest] = std::ranges::minmax(values);
  const bool is_bounded = std::isfinite(maximum_of(chart.name));
  const bool log = !is_bounded && !is_linear(chart.name) && wants_log(lowest, highest);
  if (is_bounded && lowest < highest / 2) lowest = 0;
  const bool has_best = chart.best && (!log || *chart.best > 0);
  if (has_best) {
    highest = std::max(highest, *chart.best);
    if (*chart.best <= lowest)  // not on the axis
      lowest = log ? *chart.best * std::pow(*chart.best / highest, 0.05)
                   : *chart.best - 0.05 * (highest - *chart.best);
    lowest = std::min(lowest, *chart.best);
  }
  const PlotAxis y(lowest, highest, log, bottom, top);
  const std::string short_title = chart.title + unit_of(chart.name);
  const std::string title = short_title + (log ? ", logarithmic" : "");
  const bool has_room = Size::letter * static_cast<double>(character_count(title)) < bottom - top;
  canvas.axes(x, y, is_last ? axis.title + (axis.log ? ", logarithmic" : "") : "",
              has_room ? title : short_title, axis.names);
  const auto pixels = [&](const ChartLine& line, const std::vector<double>& part) {
    return points_of(line.curve.steps, part, x, y, axis.log);
  };
  for (const ChartLine& line : chart.lines) {
    if (line.low.empty()) continue;
    Points band = pixels(line, line.low);
    const Points high = pixels(line, line.high);
    band.insert(band.end(), high.rbegin(), high.rend());
    canvas.band(line.colour, band);
  }
  for (const ChartLine& line : chart.lines) {
    const Points whole = pixels(line, line.curve.values);
    std::vector<double> heights;
    for (const auto& point : whole) heights.push_back(point.second);
    Points points;
    for (const size_t kept : thinned(heights, Size::points)) points.push_back(whole[kept]);
    canvas.line({line.colour, line.dash}, points);
  }
  if (has_best)
    canvas.line(best_style, {{x.begin(), y.pixel(*chart.best)}, {x.end(), y.pixel(*chart.best)}});
  return title;
}

}  // namespace

std::vector<Chart> panels_of(const std::vector<const Chart*>& charts) {
  std::vector<Chart> panels;
  std::vector<std::string> groups;
  for (const Chart* chart : charts)
    for (const ChartLine& line : chart->lines)
      if (std::ranges::find(groups, line.label) == groups.end()) groups.push_back(line.label);
  int64_t index = 0;
  for (size_t i = 0; i < charts.size(); ++i) {
    const std::string kind = last_component(without_group(charts[i]->name));
    const auto found = std::ranges::find(
        panels, kind, [](const Chart& panel) { return last_component(without_group(panel.name)); });
    const bool is_new = found == panels.end();
    Chart& panel = is_new ? panels.emplace_back(*charts[i]) : *found;
    if (is_new)
      panel.lines.clear();
    else
      panel.title = as_title(kind);
    if (!panel.best) panel.best = charts[i]->best;
    for (ChartLine line : charts[i]->lines) {
      const auto group = std::ranges::find(groups, line.label) - groups.begin();
      const bool both = charts.size() > 1 && groups.size() > 1;
      std::tie(line.colour, line.dash) =
          both ? std::pair(int64_t{group}, static_cast<int64_t>(i)) : std::pair(index, index);
      ++index;
      if (charts.size() > 1)
        line.label = curve_title(charts[i]->name) + (both ? ", " + line.label : "");
      panel.lines.push_back(std::move(line));
    }
  }
  return panels;
}

std::string figure_svg(const std::vector<Chart>& panels, const FigureAxis& axis,
                       const std::string& bands) {
  const PlotAxis x = horizontal_axis(panels, axis);
  const double plot = panels.size() == 1 ? Size::plot : Size::panel;
  Canvas canvas;
  double at = Size::top;
  std::string title;
  std::vector<const ChartLine*> lines;
  for (const Chart& chart : panels) {
    const bool is_last = &chart == &panels.back();
    const std::string own = draw_panel(canvas, chart, axis, x, at, at + plot, is_last);
    title += (title.empty() ? "" : "; ") + own;
    at += plot + (is_last ? Size::below : Size::gap);
    for (const ChartLine& line : chart.lines) lines.push_back(&line);
  }
  bool has_bands = false;
  for (const ChartLine* line : lines) {
    canvas.legend({line->colour, line->dash}, Size::left, at + 4, line->label);
    at += Size::row;
    has_bands = has_bands || !line->low.empty();
  }
  if (std::ranges::any_of(panels, [](const Chart& panel) { return panel.best.has_value(); })) {
    canvas.legend(best_style, Size::left, at + 4, "best possible loss");
    at += Size::row;
  }
  if (has_bands) {
    at += Size::row;
    canvas.text(Size::left, at - Size::row / 2 + 2, "start", bands, "fill=\"#666\"");
  }
  return canvas.svg(Size::width, at, title, 13);
}

void write_figure(const std::string& file, const std::string& svg) {
  const bool is_pdf = file.ends_with(".pdf");
  if (!is_pdf && !file.ends_with(".png")) return write_file(file, svg);
  AtomicFile source(file, ".svg"), made(file);
  source.write(svg);
  Process converter({.program = "rsvg-convert",
                     .arguments = {"rsvg-convert", is_pdf ? "--format=pdf" : "--format=png",
                                   is_pdf ? "--zoom=1" : "--zoom=3", source.aside()},
                     .descriptors = {{made.descriptor(), STDOUT_FILENO}}},
                    "cannot start rsvg-convert");
  const int code = converter.wait().shell_code();
  check(code != 127,
        "{}: PDF and PNG need the program rsvg-convert (Debian: librsvg2-bin); install it, or "
        "write a .svg",
        file);
  check(code == 0, "{}: rsvg-convert ended with exit code {}; free space, or write a .svg", file,
        code);
  made.commit();
}

}  // namespace heed
