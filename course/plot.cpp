#include "course/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "core/check.h"

namespace heed::plot {
namespace {

// Replaces the characters that XML reserves.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

class Canvas {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    body_ += fmt::format(format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  // `anchor`: start, middle or end. `style`: more attributes.
  void text(double x, double y, const char* anchor, const std::string& words,
            const std::string& style = "") {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>", x, y, anchor,
        style.empty() ? "" : " ", style, escaped(words));
  }
  // A text that reads upwards.
  void upright_text(double x, double y, const char* anchor, const std::string& words) {
    put("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"{}\">{}</text>", x,
        y, anchor, escaped(words));
  }
  // Throws Error if the file cannot be written.
  void save(const std::string& path, double width, double height, const std::string& title) const {
    std::ofstream file(path);
    file << fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" "
        "fill=\"#222\">\n<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n{3}</svg>\n",
        width, height, escaped(title), body_);
    file.close();
    check(file.good(), "plot: cannot write {}", path);
  }

 private:
  std::string body_;
};

// One axis: from values to pixels, with ticks at about five round numbers, or at powers of ten.
class Axis {
 public:
  Axis(double lowest, double highest, bool log, double begin, double end)
      : log_(log), begin_(begin), end_(end), lowest_(scaled(lowest)), highest_(scaled(highest)) {
    if (highest_ - lowest_ < 1e-12) highest_ = lowest_ + 1;
  }
  double pixel(double value) const {
    return begin_ + (scaled(value) - lowest_) / (highest_ - lowest_) * (end_ - begin_);
  }
  Values ticks() const {
    const double span = highest_ - lowest_;
    double unit = std::pow(10, std::floor(std::log10(span / 4)));
    if (span / unit > 12) unit *= 5;
    if (span / unit > 6) unit *= 2;
    if (log_) unit = std::max(1.0, std::round(unit));
    Values values;
    for (double at = std::ceil(lowest_ / unit - 1e-9) + 0.0; at * unit <= highest_ + 1e-9 * span;
         ++at)
      values.push_back(log_ ? std::pow(10, at * unit) : at * unit);
    return values;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double begin_, end_, lowest_, highest_;
};

std::pair<Axis, Axis> axes_of(const Lines& figure, double left, double right, double bottom,
                              double top) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double x_min = infinity, x_max = -infinity, y_min = infinity, y_max = -infinity;
  for (const Lines::Line& line : figure.lines) {
    for (const double v : line.x) x_min = std::min(x_min, v), x_max = std::max(x_max, v);
    for (const double v : line.y) y_min = std::min(y_min, v), y_max = std::max(y_max, v);
  }
  check(!figure.lines.empty(), "plot: {} has no lines", figure.title);
  if (!figure.log_y && y_min > 0 && y_min < y_max / 3) y_min = 0;
  return {Axis(x_min, x_max, figure.log_x, left, right),
          Axis(y_min, y_max, figure.log_y, bottom, top)};
}

}  // namespace

void Lines::add(const std::string& label, const Values& x, const Values& y) {
  check(x.size() == y.size() && !x.empty(), "plot: line {} has {} x and {} y", label, x.size(),
        y.size());
  lines.push_back({label, x, y});
}

void Lines::save(const std::string& path) const {
  constexpr double width = 640, top = 40, bottom = 270, left = 66, right = 470, height = 320;
  constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#b07700", "#3d9fd6", "#6f6f6f", "#8a6fd1"};
  constexpr const char* dashes[] = {"none", "7 3", "2 3", "9 3 2 3"};
  const auto [x, y] = axes_of(*this, left, right, bottom, top);
  Canvas canvas;
  canvas.text(left, 22, "start", title, "font-size=\"14\"");
  for (const double tick : y.ticks()) {
    canvas.put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>", left, y.pixel(tick), right);
    canvas.text(left - 8, y.pixel(tick) + 4, "end", fmt::format("{:.4g}", tick));
  }
  for (const double tick : x.ticks()) {
    canvas.put("<path d=\"M{:.1f} {:.1f}v5\" stroke=\"#888\"/>", x.pixel(tick), bottom);
    canvas.text(x.pixel(tick), bottom + 19, "middle", fmt::format("{:.4g}", tick));
  }
  canvas.put("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" stroke=\"#888\" fill=\"none\"/>", left, top,
             bottom, right);
  canvas.text((left + right) / 2, height - 10, "middle", x_label);
  canvas.upright_text(18, (top + bottom) / 2, "middle", y_label);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string style =
        fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"",
                    colours[i % std::size(colours)], dashes[i % std::size(dashes)]);
    std::string points;
    for (size_t k = 0; k < lines[i].x.size(); ++k)
      points += fmt::format("{:.1f},{:.1f} ", x.pixel(lines[i].x[k]), y.pixel(lines[i].y[k]));
    points.pop_back();
    canvas.put("<polyline {} points=\"{}\"/>", style, points);
    const double legend = top + 12 + 20 * static_cast<double>(i);
    canvas.put("<path d=\"M{:.1f} {:.1f}h30\" {}/>", right + 16, legend - 4, style);
    canvas.text(right + 54, legend, "start", lines[i].label);
  }
  canvas.save(path, width, height, title);
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
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const auto value = static_cast<double>(values.data()[i * columns + j]);
      const double share = max > 0 ? std::fabs(value) / max : 0;
      const double x = left + static_cast<double>(j) * cell,
                   y = top + static_cast<double>(i) * cell;
      canvas.put(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"{}\" fill-opacity=\"{:.3f}\"/>",
          x, y, cell, cell, value < 0 ? "#b2182b" : "#08306b", share);
      if (cell >= 36)
        canvas.text(x + cell / 2, y + cell / 2 + 4, "middle", fmt::format("{:.2g}", value),
                    share > 0.5 ? "fill=\"#fff\"" : "");
    }
  canvas.put(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
      "stroke=\"#888\"/>",
      left, top, width, height);
  canvas.text(left, top + height + 22, "start",
              fmt::format("darkest: {:.3g}; negative values are red", max));
  canvas.save(path, std::max(left + width, left + 240) + 20, top + height + 36, text.title);
}

}  // namespace heed::plot
