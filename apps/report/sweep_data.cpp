#include "apps/report/sweep_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/experiments/comparison.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"

namespace heed {

namespace {

constexpr size_t least_runs_of_band = 3;

std::string name_of_group(const RunGroups& groups, size_t index) {
  std::string name;
  for (size_t i = 0; i < groups.varying.size(); ++i) {
    const std::string& key = groups.varying[i];
    name += fmt::format("{}{}={}", i > 0 ? ", " : "", last_component(key),
                        groups.groups[index].values[i]);
  }
  return name.empty() ? "mean" : name;
}

std::vector<std::string> values_of_run(const RunGroups& groups, const ScoredRun& run) {
  std::vector<std::string> values;
  for (const std::string& key : groups.varying) values.push_back(value_of(run.config, key));
  return values;
}

Json comparisons_json(const RunGroups& groups, const std::string& score) {
  Json rows = Json::array();
  if (!groups.repeats_over_seeds()) return rows;
  for (const Comparison& each : compare_with_first(groups, score)) {
    if (each.seeds.empty()) continue;
    rows.push(std::vector<std::string>{
        name_of_group(groups, each.group), std::to_string(each.seeds.size()),
        four_digits(each.difference),
        fmt::format("{} … {}", four_digits(each.interval.low), four_digits(each.interval.high)),
        fmt::format("{:.3g}", each.p), fmt::format("{:.3g}", each.adjusted_p)});
  }
  return rows;
}

// The scores of validation and test, the deciding one first; counts are no scores.
std::vector<std::string> shown_scores(const std::vector<ScoredRun>& runs,
                                      const std::string& chosen_by) {
  std::vector<std::string> names{chosen_by};
  for (const std::string& name : score_names(runs)) {
    const std::string score = name.substr(name.find('.') + 1);
    if (name != chosen_by && name.find('.') != name.npos && score != "examples" &&
        score != "targets" && score != "perplexity" && score != "outputs_without_4grams")
      names.push_back(name);
  }
  return names;
}

// The values of a curve of one run, by step.
using Steps = std::map<double, double>;

Chart& chart_named(std::vector<Chart>& charts, const std::string& name) {
  const auto found = std::ranges::find(charts, name, &Chart::name);
  return found != charts.end() ? *found : charts.emplace_back(Chart{curve_title(name), name, {}});
}

// The mean over runs at the steps that all have.
ChartLine mean_line(const std::vector<Steps>& runs) {
  ChartLine line;
  for (const auto& [step, first] : runs[0]) {
    std::vector<double> values;
    for (const Steps& run : runs)
      if (const auto found = run.find(step); found != run.end()) values.push_back(found->second);
    if (values.size() < runs.size()) continue;
    const MeanInterval mean = student_mean(values);
    line.curve.steps.push_back(step);
    line.curve.values.push_back(mean.mean);
    if (runs.size() < least_runs_of_band) continue;
    line.low.push_back(mean.mean - mean.half_width);
    line.high.push_back(mean.mean + mean.half_width);
  }
  return line;
}

}  // namespace

Json sweep_json(const RunGroups& groups, const std::vector<ScoredRun>& runs) {
  const std::string score = runs[0].chosen_by;
  const std::vector<std::string> names = shown_scores(runs, score);
  const std::optional<size_t> best = best_group(groups, score);
  Json rows = Json::array(), points = Json::array();
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const RunGroup& group = groups.groups[i];
    std::vector<std::string> means;
    for (const std::string& name : names) {
      const std::optional<MeanInterval> mean = group.mean(name);
      means.push_back(mean ? mean_text(*mean) : "–");
    }
    rows.push(Json::object()
                  .set("values", group.values)
                  .set("runs", static_cast<int64_t>(group.runs.size()))
                  .set("means", means)
                  .set("best", best == i));
    for (const ScoredRun& run : group.runs)
      if (const std::optional<double> value = run.number(score))
        points.push(Json::object().set("values", values_of_run(groups, run)).set("score", *value));
  }
  return Json::object()
      .set("score", score)
      .set("lower_is_better", lower_is_better(score))
      .set("keys", groups.varying)
      .set("scores", names)
      .set("groups", std::move(rows))
      .set("comparisons", comparisons_json(groups, score))
      .set("points", std::move(points))
      .set("left_out", groups.repeats);
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
      ChartLine line = mean_line(by_name[name]);
      line.label = name_of_group(groups, i);
      line.colour = static_cast<int64_t>(i);
      line.curve.name = name;
      chart_named(charts, name).lines.push_back(std::move(line));
    }
  }
  return charts;
}

}  // namespace heed
