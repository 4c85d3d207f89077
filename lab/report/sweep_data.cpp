#include "lab/report/sweep_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/support/names.h"

namespace heed {

namespace {

constexpr size_t least_runs_of_band = 3;

// The values of a curve of one run, by step.
using Steps = std::map<double, double>;

// The mean over runs at the steps that all have.
ChartLine mean_line(const std::vector<Steps>& runs, double most) {
  ChartLine line;
  for (const auto& [step, first] : runs[0]) {
    std::vector<double> values;
    for (const Steps& run : runs)
      if (const auto found = run.find(step); found != run.end()) values.push_back(found->second);
    if (values.size() < runs.size()) continue;
    const MeanInterval mean =
        std::isfinite(most) ? bounded_mean(values, most, 0) : student_mean(values);
    line.curve.steps.push_back(step);
    line.curve.values.push_back(mean.mean);
    if (runs.size() < least_runs_of_band) continue;
    line.low.push_back(mean.interval.low);
    line.high.push_back(mean.interval.high);
  }
  return line;
}

}  // namespace

SweepScores sweep_scores(const std::vector<ScoredRun>& runs, const std::string& score,
                         const std::vector<std::string>& columns) {
  const std::string& deciding = runs[0].chosen_by;
  SweepScores scores{group_runs(runs), deciding, {score.empty() ? deciding : score}};
  for (const std::string& name : columns.empty() ? score_names(runs) : columns)
    if (name != scores.names[0] &&
        (!columns.empty() ||
         (name.find('.') != name.npos && !is_count(name) && last_component(name) != "perplexity")))
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
    std::map<std::string, std::vector<Steps>> by_name;
    std::vector<std::string> names;  // in the order of the rows
    for (const ScoredRun& run : groups.groups[i].runs)
      for (const auto& [path, all] : curves) {
        if (path != run.folder.path()) continue;
        for (const Curve& curve : all.curves) {
          if (!is_charted(curve.name)) continue;
          std::vector<Steps>& steps = by_name[curve.name];
          if (steps.empty()) names.push_back(curve.name);
          Steps& added = steps.emplace_back();
          for (size_t at = 0; at < curve.steps.size(); ++at)
            added[curve.steps[at]] = curve.values[at];
        }
      }
    for (const std::string& name : names) {
      ChartLine line = mean_line(by_name[name], maximum_of(name));
      line.label = name_of_group(groups, i);
      line.colour = static_cast<int64_t>(i);
      line.curve.name = name;
      chart_named(charts, name, curve_title(name)).lines.push_back(std::move(line));
    }
  }
  return charts;
}

}  // namespace heed
