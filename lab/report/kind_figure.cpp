#include "lab/report/kind_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "apps/support/names.h"
#include "core/check.h"
#include "core/joined.h"
#include "lab/report/figure.h"
#include "lab/report/sweep_data.h"

namespace heed {
namespace {

// Where kinds are on the axis: the numbers at their ends, or their indices, with their names.
std::vector<double> places_of(const std::vector<std::string>& kinds, FigureAxis& axis) {
  std::vector<double> places;
  for (const std::string& kind : kinds) {
    const size_t digits = kind.find_last_not_of("0123456789.") + 1;
    double number = 0;
    const auto [end, error] =
        std::from_chars(kind.data() + digits, kind.data() + kind.size(), number);
    const bool is_number = error == std::errc() && end == kind.data() + kind.size();
    if (!is_number || kind.substr(0, digits) != kinds[0].substr(0, digits)) {
      axis.names = kinds;
      places.clear();
      for (size_t i = 0; i < kinds.size(); ++i) places.push_back(static_cast<double>(i));
      return places;
    }
    places.push_back(number);
  }
  return places;
}

}  // namespace

std::string figure_of_kinds(const FigureRequest& request) {
  std::vector<ScoredRun> runs = load_runs(find_runs(request.paths));
  const std::vector<std::string> names = add_kind_scores(runs, request.kinds);
  check_input(!names.empty(), "--by: no run is done, so there is nothing to evaluate");
  const std::string split = names[0].substr(0, names[0].find_first_of(".["));
  const auto& range = request.kinds.positions;
  std::vector<std::string> kinds;
  for (const std::string& name : names)
    if (const std::string kind = split_kind(name).second;
        !kind.empty() && !(range && kind == range->text()))
      kinds.push_back(kind);
  std::vector<std::string> measures;
  for (const std::string& score : request.scores.empty() ? std::vector{names[0]} : request.scores)
    measures.push_back(last_component(score));
  const SeedGroups groups = group_runs(std::move(runs));
  FigureAxis axis{.title = request.kinds.by, .log = request.log_x, .from_zero = false};
  const std::vector<double> places = places_of(kinds, axis);
  std::vector<Chart> charts;
  bool over_seeds = false;
  for (const std::string& measure : measures) {
    const std::string whole = split + "." + measure;
    Chart& chart = charts.emplace_back(Chart{curve_title(whole), whole, {}});
    for (size_t i = 0; i < groups.groups.size(); ++i) {
      ChartLine line;
      line.label = name_of_group(groups, i);
      bool has_band = false;
      for (size_t k = 0; k < places.size(); ++k) {
        const auto mean = groups.mean(i, fmt::format("{}[{}].{}", split, kinds[k], measure));
        if (!mean) continue;
        over_seeds = over_seeds || mean->n > 1;
        line.curve.steps.push_back(places[k]);
        line.curve.values.push_back(mean->mean);
        const bool known = mean->has_interval();  // not where all seeds have one value
        has_band = has_band || known;
        line.low.push_back(known ? mean->interval.low : mean->mean);
        line.high.push_back(known ? mean->interval.high : mean->mean);
      }
      if (!has_band) line.low = line.high = {};
      if (!line.curve.steps.empty()) chart.lines.push_back(std::move(line));
    }
    check_input(!chart.lines.empty(), "--score {}: no kind of examples has this score", measure);
  }
  std::vector<const Chart*> pointers;
  for (const Chart& chart : charts) pointers.push_back(&chart);
  return figure_svg(panels_of(pointers), axis,
                    over_seeds ? band_of_seeds : "band: 95 % interval over the examples");
}

}  // namespace heed
