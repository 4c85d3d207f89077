#include "lab/report/sweep_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/support/names.h"
#include "lab/experiments/group_curves.h"

namespace heed {

namespace {

constexpr size_t least_runs_of_band = 3;

// The mean over runs at the steps that all have.
ChartLine mean_line(const std::vector<const Curve*>& runs) {
  ChartLine line;
  for (const auto& [step, mean] : mean_curve(runs)) {
    if (mean.n < std::ssize(runs)) continue;
    line.curve.steps.push_back(step);
    line.curve.values.push_back(mean.mean);
    if (runs.size() < least_runs_of_band || !std::isfinite(mean.half_width)) continue;
    line.low.push_back(mean.interval.low);
    line.high.push_back(mean.interval.high);
  }
  if (line.low.size() != line.curve.steps.size()) line.low = line.high = {};
  return line;
}

}  // namespace

SweepScores sweep_scores(const std::vector<ScoredRun>& runs, const std::string& score,
                         const std::vector<std::string>& columns) {
  const std::string& deciding = runs[0].chosen_by;
  SweepScores scores{group_runs(runs), deciding, {score.empty() ? deciding : score}};
  for (const std::string& name : columns.empty() ? score_names(runs) : columns)
    if (name != scores.names[0] &&
        (!columns.empty() || (name.find('.') != name.npos && !is_count(name) && !is_of_part(name) &&
                              last_component(name) != "perplexity")))
      scores.names.push_back(name);
  return scores;
}

std::string name_of_group(const RunGroups& groups, size_t index) {
  std::string name;
  for (size_t i = 0; i < groups.varying.size(); ++i) {
    const std::string& key = groups.varying[i];
    name += fmt::format("{}{}={}", i > 0 ? ", " : "", last_component(key),
                        groups.groups[index].values[i]);
  }
  return name.empty() ? "mean" : name;
}

std::vector<Chart> charts_of_groups(const RunGroups& groups,
                                    const std::vector<std::pair<std::string, Curves>>& curves) {
  std::vector<Chart> charts;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    std::map<std::string, std::vector<const Curve*>> by_name;
    std::vector<std::string> names;  // in the order of the rows
    for (const ScoredRun& run : groups.groups[i].runs)
      for (const auto& [path, all] : curves) {
        if (path != run.folder.path()) continue;
        for (const Curve& curve : all.curves) {
          if (!is_charted(curve.name)) continue;
          std::vector<const Curve*>& known = by_name[curve.name];
          if (known.empty()) names.push_back(curve.name);
          known.push_back(&curve);
        }
      }
    for (const std::string& name : names) {
      ChartLine line = mean_line(by_name[name]);
      line.label = name_of_group(groups, i);
      line.colour = static_cast<int64_t>(i);
      line.curve.name = name;
      chart_named(charts, name, curve_title(name)).lines.push_back(std::move(line));
    }
  }
  return charts;
}

}  // namespace heed
