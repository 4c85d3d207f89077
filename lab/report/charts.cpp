#include "lab/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "apps/inference/scores.h"
#include "apps/support/canvas.h"
#include "apps/support/numbers.h"
#include "lab/report/chart_axis.h"

namespace heed {

namespace {

// JSON would otherwise spend 17 digits on what a picture shows with 3.
Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push(six_digits(value));
  return list;
}

std::vector<double> numbers_of(const Json* list) {
  std::vector<double> values;
  if (list)
    for (const Json& value : list->elements()) values.push_back(value.number());
  return values;
}

// The size of a drawing and its margins, in pixels.
struct ChartArea {
  static constexpr double width = 640, height = 260, left = 64, right = 12, top = 10, bottom = 28;
};
constexpr size_t drawn_points = 400;

std::string points_text(const Curve& curve, const ChartAxis& x, const ChartAxis& y) {
  std::string text;
  for (size_t i = 0; i < curve.values.size(); ++i)
    text += fmt::format("{:.1f},{:.1f} ", x.pixel(curve.steps[i]), y.pixel(curve.values[i]));
  return text;
}

std::string drawn_axes(const ChartAxis& x, const ChartAxis& y) {
  std::string text;
  for (const double tick : y.ticks())
    text += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>",
        ChartArea::left, y.pixel(tick), ChartArea::width - ChartArea::right, ChartArea::left - 8,
        y.pixel(tick) + 4, tick_text(tick));
  for (const double tick : x.ticks())
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                        x.pixel(tick), ChartArea::height - 8, tick_text(tick));
  return text;
}

Curve curve_in(const Json& line, const char* values) {
  return thinned({"", numbers_of(line.find("x")), numbers_of(line.find(values))}, drawn_points);
}

}  // namespace

Chart& chart_named(std::vector<Chart>& charts, const std::string& name, const std::string& title) {
  const auto found = std::ranges::find(charts, name, &Chart::name);
  return found != charts.end() ? *found : charts.emplace_back(Chart{title, name, {}});
}

Json chart_json(const Chart& chart, size_t points) {
  Json lines = Json::array();
  Limits limits;
  for (const ChartLine& line : chart.lines) {
    const Curve curve = line.low.empty() ? thinned(line.curve, points) : line.curve;
    limits.include(curve.values);
    limits.include(line.low);
    Json json = Json::object()
                    .set("label", line.label)
                    .set("colour", line.colour)
                    .set("x", list_of(curve.steps))
                    .set("y", list_of(curve.values));
    if (!line.low.empty()) json.set("low", list_of(line.low)).set("high", list_of(line.high));
    lines.push(std::move(json));
  }
  return Json::object()
      .set("title", chart.title)
      .set("name", chart.name)
      .set("log", is_logarithmic(chart.name, limits))
      .set("fraction", maximum_of(chart.name) == 1)
      .set("lines", std::move(lines));
}

std::string chart_svg(const Json& chart) {
  Limits steps, values;
  for (const Json& line : chart.at("lines").elements()) {
    steps.include(numbers_of(line.find("x")));
    for (const char* name : {"y", "low", "high"}) values.include(numbers_of(line.find(name)));
  }
  steps.include({0});
  if (chart.at("fraction").flag()) values.include({0, 1});
  const ChartAxis x(steps, false, ChartArea::left, ChartArea::width - ChartArea::right);
  const ChartAxis y(values, chart.at("log").flag(), ChartArea::height - ChartArea::bottom,
                    ChartArea::top);
  std::string text =
      fmt::format("<svg class=\"drawing\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}",
                  ChartArea::width, ChartArea::height, xml_escaped(chart.at("title").string()),
                  drawn_axes(x, y));
  for (const Json& line : chart.at("lines").elements()) {
    const int64_t colour = line.at("colour").integer() % 8;
    if (line.find("low")) {
      Curve low = curve_in(line, "low"), high = curve_in(line, "high");
      std::ranges::reverse(high.steps);
      std::ranges::reverse(high.values);
      text += fmt::format("<polygon class=\"band s{}\" points=\"{}{}\"/>", colour,
                          points_text(low, x, y), points_text(high, x, y));
    }
    text +=
        fmt::format("<polyline class=\"s{}\" points=\"{}\"><title>{}</title></polyline>", colour,
                    points_text(curve_in(line, "y"), x, y), xml_escaped(line.at("label").string()));
  }
  return text + "</svg>";
}

std::string chart_figure(const Json& chart) {
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\">\n<figcaption>{}</figcaption>\n<div "
      "class=\"plot\">{}</div>\n</figure>\n",
      xml_escaped(chart.at("name").string()), xml_escaped(chart.at("title").string()),
      chart_svg(chart));
}

bool is_charted(const std::string& curve) {
  return !is_count(curve) && curve != "seconds" && !curve.starts_with("statistics.");
}

bool is_of_part(const std::string& curve) { return std::ranges::count(curve, '.') > 1; }

std::string curve_title(const std::string& name) {
  std::string text = name == "lr"                 ? "learning rate"
                     : name == "tokens_per_s"     ? "tokens per second"
                     : name == "loss"             ? "training loss"
                     : name.starts_with("val.")   ? "validation " + name.substr(4)
                     : name.starts_with("train.") ? "training examples: " + name.substr(6)
                                                  : name;
  std::ranges::replace(text, '_', ' ');
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace heed
