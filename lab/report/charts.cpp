#include "lab/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "apps/inference/attention_picture.h"

namespace heed {

namespace {

// JSON would otherwise spend 17 digits on what a picture shows with 3.
Json six_digits(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values)
    list.push(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr));
  return list;
}

std::vector<double> numbers_of(const Json* list) {
  std::vector<double> values;
  if (list)
    for (const Json& value : list->elements()) values.push_back(value.number());
  return values;
}

struct Limits {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;

  void include(const std::vector<double>& values) {
    for (const double value : values) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
};

// A horizontal or vertical axis: from values to pixels, and its ticks.
class ChartAxis {
 public:
  ChartAxis(Limits limits, bool log, double begin, double end)
      : log_(log), begin_(begin), end_(end) {
    if (!(limits.lowest <= limits.highest)) limits = {0, 1};
    lowest_ = scaled(limits.lowest);
    highest_ = scaled(limits.highest);
    if (highest_ - lowest_ < 1e-12 * std::max(1.0, std::abs(lowest_))) {
      const double room = log ? 0.5 : std::max(std::abs(lowest_), 1e-6) / 2;
      lowest_ -= room;
      highest_ += room;
    }
  }

  double pixel(double value) const {
    return begin_ + (scaled(value) - lowest_) / (highest_ - lowest_) * (end_ - begin_);
  }

  // About five round numbers, or powers of ten.
  std::vector<double> ticks() const {
    std::vector<double> values;
    const double span = highest_ - lowest_;
    double unit = std::pow(10, std::floor(std::log10(span / 4)));
    if (span / unit > 12) unit *= 5;
    if (span / unit > 6) unit *= 2;
    if (log_) unit = std::max(1.0, std::round(unit));
    for (double at = std::ceil(lowest_ / unit); at * unit <= highest_; ++at)
      values.push_back(log_ ? std::pow(10, at * unit) : at * unit);
    return values;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double begin_, end_, lowest_ = 0, highest_ = 1;
};

// Where values span more than a factor of 30; a schedule of rates is known by its linear shape.
bool is_logarithmic(const std::string& name, const Limits& limits) {
  return limits.lowest > 0 && limits.highest > 30 * limits.lowest && name != "lr";
}

bool is_fraction(const std::string& name) {
  return name.ends_with("accuracy") || name.ends_with("exact_match");
}

// The size of a drawing and its margins, in pixels.
struct ChartArea {
  static constexpr double width = 640, height = 260, left = 64, right = 12, top = 10, bottom = 28;
};
constexpr size_t drawn_points = 400;

std::string tick_text(double value) {
  if (value == 0) return "0";
  return std::abs(value) >= 1e4 && std::abs(value) < 1e7 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.4g}", value);
}

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
                    .set("x", six_digits(curve.steps))
                    .set("y", six_digits(curve.values));
    if (!line.low.empty()) json.set("low", six_digits(line.low)).set("high", six_digits(line.high));
    lines.push(std::move(json));
  }
  return Json::object()
      .set("title", chart.title)
      .set("name", chart.name)
      .set("log", is_logarithmic(chart.name, limits))
      .set("fraction", is_fraction(chart.name))
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

std::string curve_title(const std::string& name) {
  std::string text = name == "lr"               ? "learning rate"
                     : name == "tokens_per_s"   ? "tokens per second"
                     : name == "loss"           ? "training loss"
                     : name.starts_with("val.") ? "validation " + name.substr(4)
                                                : name;
  std::ranges::replace(text, '_', ' ');
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace heed
