#include "lab/report/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/scores.h"
#include "apps/support/axis.h"
#include "apps/support/numbers.h"
#include "lab/experiments/score_kinds.h"

namespace heed {

namespace {

// JSON would otherwise spend 17 digits on what a picture shows with 3.
Json list_of(const std::vector<double>& values, const std::vector<size_t>& kept) {
  Json list = Json::array();
  for (const size_t i : kept) list.push(six_digits(values[i]));
  return list;
}

}  // namespace

Chart& chart_named(std::vector<Chart>& charts, const std::string& name, const std::string& title) {
  const auto found = std::ranges::find(charts, name, &Chart::name);
  return found != charts.end() ? *found : charts.emplace_back(Chart{title, name, {}});
}

Json chart_json(const Chart& chart, size_t points) {
  Json lines = Json::array();
  for (const ChartLine& line : chart.lines) {
    const std::vector<size_t> kept = thinned(line.curve.values, points);
    Json json = Json::object()
                    .set("label", line.label)
                    .set("colour", line.colour)
                    .set("x", list_of(line.curve.steps, kept))
                    .set("y", list_of(line.curve.values, kept));
    if (!line.low.empty())
      json.set("low", list_of(line.low, kept)).set("high", list_of(line.high, kept));
    if (line.dash > 0) json.set("dash", line.dash);
    Json seeds = Json::array();
    for (const Curve& seed : line.seeds) {
      const std::vector<size_t> few = thinned(seed.values, std::max<size_t>(4, points / 4));
      seeds.push(
          Json::object().set("x", list_of(seed.steps, few)).set("y", list_of(seed.values, few)));
    }
    if (!line.seeds.empty()) json.set("seeds", std::move(seeds));
    lines.push(std::move(json));
  }
  Json json = Json::object();
  if (chart.best) json.set("best", six_digits(*chart.best));
  return json.set("title", chart.title)
      .set("name", chart.name)
      .set("ratio", chart.by_ratio)
      .set("fraction", maximum_of(chart.name) == 1)
      .set("from_zero", is_linear(chart.name))
      .set("lines", std::move(lines));
}

bool is_linear(const std::string& name) { return name == "lr" || name == "tokens_per_s"; }

bool is_charted(const std::string& curve) {
  return !is_count(curve) && curve != "seconds" && !curve.starts_with("statistics.");
}

std::string as_title(std::string text) {
  std::ranges::replace(text, '_', ' ');
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string curve_title(const std::string& name) {
  std::string words = name;
  if (find_score(name))
    std::ranges::replace(words, '.', ' ');  // "test.loss"
  else if (const size_t dot = name.find('.'); dot != std::string::npos)
    words.replace(dot, 1, ": ");  // "heads.prefix_matching"
  return as_title(name == "lr"                 ? "learning rate"
                  : name == "tokens_per_s"     ? "tokens per second"
                  : name == "loss"             ? "training loss"
                  : name.starts_with("val.")   ? "validation " + name.substr(4)
                  : name.starts_with("train.") ? "training examples: " + name.substr(6)
                                               : words);
}

}  // namespace heed
