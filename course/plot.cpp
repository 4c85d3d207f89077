#include "course/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/support/canvas.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/text.h"

namespace heed::plot {

static std::pair<PlotAxis, PlotAxis> axes_of(const Lines& figure, double left, double right,
                                             double bottom, double top) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double x_min = infinity, x_max = -infinity, y_min = infinity, y_max = -infinity;
  for (const Lines::Line& line : figure.lines) {
    for (const double v : line.x) x_min = std::min(x_min, v), x_max = std::max(x_max, v);
    for (const double v : line.y) y_min = std::min(y_min, v), y_max = std::max(y_max, v);
  }
  check(!figure.lines.empty(), "plot: {} has no lines", figure.title);
  if (!figure.log_x && x_min > 0 && x_min < x_max / 3) x_min = 0;
  if (!figure.log_y) {  // no line lies on the frame, but on the axis of 0
    const double room = 0.06 * (y_max - y_min);
    y_max += room;
    y_min = y_min >= 0 && y_min < y_max / 3 ? 0 : y_min - room;
  }
  return {PlotAxis(x_min, x_max, figure.log_x, left, right),
          PlotAxis(y_min, y_max, figure.log_y, bottom, top)};
}

// Where the label of each line goes: at its last point, or as near as the other labels allow.
static Values label_places(const std::vector<Lines::Line>& lines, const PlotAxis& y, double top) {
  constexpr double apart = 18;
  std::vector<std::pair<double, size_t>> ends;
  for (const Lines::Line& line : lines) ends.emplace_back(y.pixel(line.y.back()), ends.size());
  std::ranges::sort(ends);
  for (size_t i = 0; i < ends.size(); ++i)
    ends[i].first = std::max(ends[i].first, i == 0 ? top : ends[i - 1].first + apart);
  double lowest = y.begin();
  Values places(ends.size());
  for (size_t i = ends.size(); i-- > 0; lowest = places[ends[i].second] - apart)
    places[ends[i].second] = std::min(ends[i].first, lowest);
  return places;
}

void Lines::add(const std::string& label, const Values& x, const Values& y) {
  check(x.size() == y.size() && !x.empty(), "plot: line {} has {} x and {} y", label, x.size(),
        y.size());
  lines.push_back({label, x, y});
}

void Lines::add_points(const std::string& label, const Values& x, const Values& y) {
  add(label, x, y);
  lines.back().joined = false;
}

void Lines::save(const std::string& path) const {
  constexpr double top = 40, bottom = 270, left = 66, right = 470, height = 320, legend = right + 8;
  const auto [x, y] = axes_of(*this, left, right, bottom, top);
  const Values places = label_places(lines, y, top);
  Canvas canvas;
  canvas.text(left, 22, "start", title, "font-size=\"14\"");
  canvas.axes(x, y, x_label, y_label);
  size_t longest = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    std::vector<std::pair<double, double>> points;
    for (size_t k = 0; k < line.x.size(); ++k)
      points.emplace_back(x.pixel(line.x[k]), y.pixel(line.y[k]));
    if (line.joined)
      canvas.line(i, points);
    else
      canvas.points(i, points);
    canvas.legend(i, legend, places[i], line.label, line.joined);
    longest = std::max(longest, character_count(line.label));
  }
  const double width = legend + 50 + 6.5 * static_cast<double>(longest);
  write_file(path, canvas.svg(std::max(640.0, width), height, title));
}

void heat_map(const std::string& path, const HeatMapText& text, const Tensor& values) {
  check(values.rank() == 2 && values.size() > 0, "plot: a heat map needs a matrix, got {}",
        values.shape());
  const int64_t rows = values.dim(0), columns = values.dim(1);
  const double cell = std::clamp(480.0 / static_cast<double>(std::max(rows, columns)), 3.0, 40.0);
  const auto label = [](const std::vector<std::string>& labels, int64_t i) {
    return labels.empty() ? std::to_string(i) : labels.at(static_cast<size_t>(i));
  };
  size_t longest_row = 2, longest_column = 2;
  for (int64_t i = 0; i < rows; ++i)
    longest_row = std::max(longest_row, label(text.rows, i).size());
  for (int64_t j = 0; j < columns; ++j)
    longest_column = std::max(longest_column, label(text.columns, j).size());
  const bool upright = 7.5 * static_cast<double>(longest_column) > cell && !text.columns.empty();
  const double left = 40 + 7 * static_cast<double>(longest_row);
  const double top = 52 + (upright ? 7 * static_cast<double>(longest_column) : 14);
  const int64_t step = static_cast<int64_t>(std::ceil(16 / cell));  // every step-th has a label
  double max = 0;
  for (const real v : values.values()) max = std::max(max, std::fabs(static_cast<double>(v)));

  Canvas canvas;
  canvas.text(16, 22, "start", text.title, "font-size=\"14\"");
  const double width = cell * static_cast<double>(columns),
               height = cell * static_cast<double>(rows);
  canvas.text(left + width / 2, 42, "middle", text.x_label);
  canvas.upright_text(20, top + height / 2, "middle", text.y_label);
  for (int64_t i = 0; i < rows; i += step)
    canvas.text(left - 6, top + (static_cast<double>(i) + 0.5) * cell + 4, "end",
                label(text.rows, i));
  for (int64_t j = 0; j < columns; j += step) {
    const double x = left + (static_cast<double>(j) + 0.5) * cell;
    if (upright)
      canvas.upright_text(x + 4, top - 6, "start", label(text.columns, j));
    else
      canvas.text(x, top - 6, "middle", label(text.columns, j));
  }
  std::vector<double> shares;
  for (const real v : values.values())
    shares.push_back(max > 0 ? std::fabs(static_cast<double>(v)) / max : 0);
  const auto for_each_cell = [&](const auto& f) {
    for (int64_t i = 0; i < values.size(); ++i)
      f(static_cast<double>(i % columns) * cell, static_cast<double>(i / columns) * cell,
        static_cast<double>(values.data()[i]), shares[static_cast<size_t>(i)]);
  };
  canvas.begin_cells(left, top);
  for_each_cell([&](double x, double y, double value, double share) {
    canvas.cell(x, y, cell, share, value < 0);
  });
  canvas.end_group();
  if (cell >= 36)
    for_each_cell([&](double x, double y, double value, double share) {
      canvas.text(left + x + cell / 2, top + y + cell / 2 + 4, "middle",
                  fmt::format("{:.2g}", value), share > 0.5 ? "fill=\"#fff\"" : "");
    });
  canvas.frame(left, top, width, height);
  canvas.text(left, top + height + 22, "start",
              fmt::format("darkest: {:.3g}; negative values are red", max));
  write_file(path,
             canvas.svg(std::max(left + width, left + 240) + 20, top + height + 36, text.title));
}

}  // namespace heed::plot
