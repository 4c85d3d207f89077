#include "lab/report/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/support/canvas.h"
#include "apps/support/numbers.h"
#include "lab/experiments/score_kinds.h"
#include "lab/report/chart_axis.h"

namespace heed {

namespace {

// The line at the steps that its thinned curve keeps, with its band.
ChartLine thinned_line(const ChartLine& line, size_t points) {
  ChartLine thin = line;
  thin.curve = thinned(line.curve, points);
  if (line.low.empty()) return thin;
  thin.low = thin.high = {};
  for (size_t i = 0; i < line.curve.steps.size(); ++i)
    if (thin.low.size() < thin.curve.steps.size() &&
        line.curve.steps[i] == thin.curve.steps[thin.low.size()]) {
      thin.low.push_back(line.low[i]);
      thin.high.push_back(line.high[i]);
    }
  return thin;
}

// JSON would otherwise spend 17 digits on what a picture shows with 3.
Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push(six_digits(value));
  return list;
}

}  // namespace

Chart& chart_named(std::vector<Chart>& charts, const std::string& name, const std::string& title) {
  const auto found = std::ranges::find(charts, name, &Chart::name);
  return found != charts.end() ? *found : charts.emplace_back(Chart{title, name, {}});
}

Json chart_json(const Chart& chart, size_t points) {
  Json lines = Json::array();
  Limits limits;
  for (const ChartLine& whole : chart.lines) {
    const ChartLine line = thinned_line(whole, points);
    const Curve& curve = line.curve;
    limits.include(curve.values);
    limits.include(line.low);
    Json json = Json::object()
                    .set("label", line.label)
                    .set("colour", line.colour)
                    .set("x", list_of(curve.steps))
                    .set("y", list_of(curve.values));
    if (!line.low.empty()) json.set("low", list_of(line.low)).set("high", list_of(line.high));
    if (line.dash > 0) json.set("dash", line.dash);
    Json seeds = Json::array();
    for (const Curve& seed : line.seeds) {
      const Curve thin = thinned(seed, std::max<size_t>(4, points / 4));
      limits.include(thin.values);
      seeds.push(Json::object().set("x", list_of(thin.steps)).set("y", list_of(thin.values)));
    }
    if (!line.seeds.empty()) json.set("seeds", std::move(seeds));
    lines.push(std::move(json));
  }
  return Json::object()
      .set("title", chart.title)
      .set("name", chart.name)
      .set("log", is_logarithmic(chart.name, limits) || (chart.log && limits.lowest > 0))
      .set("fraction", maximum_of(chart.name) == 1)
      .set("from_zero", is_linear(chart.name))
      .set("lines", std::move(lines));
}

bool is_charted(const std::string& curve) {
  return !is_count(curve) && curve != "seconds" && !curve.starts_with("statistics.");
}

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
