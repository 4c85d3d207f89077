#include "lab/report/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/attention_picture.h"
#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "lab/report/chart_axis.h"

namespace heed {
namespace {

// The size of a figure and of its parts, in pixels.
struct Size {
  static constexpr double width = 720, left = 76, right = 20, top = 16, plot = 320, below = 52,
                          row = 20;
  static constexpr size_t points = 1000;  // of a line
};
// Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
constexpr const char* line_colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                        "#b07700", "#3d9fd6", "#6f6f6f", "#8a6fd1"};
constexpr const char* line_dashes[] = {"", "8 4", "2 3", "9 3 2 3"};

// What the values of a curve are counted in.
std::string unit_of(const std::string& name) {
  const Score* const score = find_score(name);
  return score && *score->unit ? fmt::format(" ({})", score->unit) : "";
}

std::string style_of(size_t line) {
  const char* const dash = line_dashes[line / std::size(line_colours) % std::size(line_dashes)];
  return fmt::format("stroke=\"{}\"{}", line_colours[line % std::size(line_colours)],
                     *dash ? fmt::format(" stroke-dasharray=\"{}\"", dash) : "");
}

std::string points_of(const Curve& curve, const ChartAxis& x, const ChartAxis& y) {
  std::string text;
  for (size_t i = 0; i < curve.steps.size(); ++i)
    text += fmt::format("{}{:.1f},{:.1f}", i > 0 ? " " : "", x.pixel(curve.steps[i]),
                        y.pixel(curve.values[i]));
  return text;
}

std::string axes_of(const ChartAxis& x, const ChartAxis& y, const std::string& title) {
  std::string text;
  for (const double tick : y.ticks())
    text += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#dddddd\"/>\n<text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        Size::left, y.pixel(tick), Size::width - Size::right, Size::left - 8, y.pixel(tick) + 4,
        tick_text(tick));
  for (const double tick : x.ticks())
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        x.pixel(tick), Size::top + Size::plot + 18, tick_text(tick));
  text += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" stroke=\"#333333\" fill=\"none\"/>\n",
                      Size::left, Size::top, Size::top + Size::plot, Size::width - Size::right);
  text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">training step</text>\n",
                      (Size::left + Size::width - Size::right) / 2, Size::top + Size::plot + 38);
  return text + fmt::format(
                    "<text transform=\"translate(16 {}) rotate(-90)\" "
                    "text-anchor=\"middle\">{}</text>\n",
                    Size::top + Size::plot / 2, xml_escaped(title));
}

}  // namespace

std::string figure_svg(const Chart& chart, const std::string& bands) {
  Limits steps, values;
  steps.include({0});
  bool has_bands = false;
  for (const ChartLine& line : chart.lines) {
    steps.include(line.curve.steps);
    for (const auto* part : {&line.curve.values, &line.low, &line.high}) values.include(*part);
    has_bands = has_bands || !line.low.empty();
  }
  const bool log = is_logarithmic(chart.name, values);
  const ChartAxis x(steps, false, Size::left, Size::width - Size::right),
      y(values, log, Size::top + Size::plot, Size::top);
  const std::string title =
      curve_title(chart.name) + unit_of(chart.name) + (log ? ", logarithmic" : "");
  const double height = Size::top + Size::plot + Size::below +
                        Size::row * static_cast<double>(chart.lines.size() + (has_bands ? 1 : 0));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      Size::width, height, xml_escaped(title));
  text += axes_of(x, y, title);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    if (line.low.empty()) continue;
    Curve low{"", line.curve.steps, line.low}, high{"", line.curve.steps, line.high};
    std::ranges::reverse(high.steps);
    std::ranges::reverse(high.values);
    text += fmt::format("<polygon points=\"{} {}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n",
                        points_of(low, x, y), points_of(high, x, y),
                        line_colours[i % std::size(line_colours)]);
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    const double at = Size::top + Size::plot + Size::below + Size::row * static_cast<double>(i) + 4;
    text += fmt::format(
        "<polyline points=\"{0}\" fill=\"none\" {1} stroke-width=\"1.8\"/>\n<path d=\"M{2} "
        "{3:.1f}h32\" {1} stroke-width=\"1.8\"/>\n<text x=\"{4}\" y=\"{5:.1f}\">{6}</text>\n",
        points_of(thinned(line.curve, Size::points), x, y), style_of(i), Size::left, at,
        Size::left + 40, at + 4, xml_escaped(line.label));
  }
  if (has_bands)
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"#666666\">{}</text>\n", Size::left,
                        height - Size::row / 2 + 2, xml_escaped(bands));
  return text + "</svg>\n";
}

}  // namespace heed
