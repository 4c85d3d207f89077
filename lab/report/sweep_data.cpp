#include "lab/report/sweep_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "lab/experiments/group_curves.h"
#include "lab/experiments/score_kinds.h"

namespace heed {

namespace {

constexpr size_t least_runs_of_band = 3;

// The mean over runs at the steps that all have, on the scale on which it is drawn.
ChartLine mean_line(const std::vector<const Curve*>& runs, bool by_ratio) {
  ChartLine line;
  for (const CurvePoint& point : mean_curve(runs, by_ratio)) {
    const MeanInterval& mean = point.mean;
    if (mean.n < std::ssize(runs)) continue;
    line.curve.steps.push_back(point.step);
    line.curve.values.push_back(mean.mean);
    if (runs.size() < least_runs_of_band || !std::isfinite(mean.half_width)) continue;
    line.low.push_back(mean.interval.low);
    line.high.push_back(mean.interval.high);
  }
  if (line.low.size() != line.curve.steps.size()) line.low = line.high = {};
  return line;
}

bool is_positive(const std::vector<const Curve*>& runs) {
  return std::ranges::all_of(runs, [](const Curve* curve) {
    return std::ranges::all_of(curve->values, [](double value) { return value > 0; });
  });
}

// Whether an axis of these values is logarithmic: see drawn_mean().
bool is_drawn_by_ratio(const std::string& score, const std::vector<double>& values) {
  return is_compared_by_ratio(score) && !values.empty() && std::ranges::min(values) > 0;
}

std::vector<double> numbers_of(const SeedGroups& groups, const std::string& score) {
  std::vector<double> all;
  for (const SeedGroup& group : groups.groups)
    std::ranges::copy(group.numbers(score), std::back_inserter(all));
  return all;
}

// Whether a curve of this name is drawn by ratio where it is positive: all but fractions and other
// bounded scores.
bool is_ratio_curve(const std::string& name) {
  return !is_linear(name) && std::isinf(maximum_of(name));
}

}  // namespace

SweepScores sweep_scores(const std::vector<ScoredRun>& runs, const std::string& score,
                         const std::vector<std::string>& columns) {
  const std::string& deciding = runs[0].chosen_by;
  SweepScores scores{group_runs(runs), deciding, {score.empty() ? deciding : score}};
  for (const std::string& name : columns.empty() ? score_names(runs) : columns)
    if (name != scores.names[0] &&
        (!columns.empty() || (name.find('.') != name.npos && !is_count(name) && !is_of_part(name) &&
                              without_group(name) == name && last_component(name) != "perplexity")))
      scores.names.push_back(name);
  std::vector<double> rank;  // the lower, the better
  for (size_t i = 0; i < scores.groups.groups.size(); ++i) {
    const auto mean = drawn_mean(scores.groups, i, scores.score());
    const double value = mean ? mean->mean : INFINITY;
    rank.push_back(mean && !lower_is_better(scores.score()) ? -value : value);
    scores.best_first.push_back(i);
  }
  std::ranges::stable_sort(scores.best_first, {}, [&](size_t i) { return rank[i]; });
  scores.by_ratio = is_drawn_by_ratio(scores.score(), numbers_of(scores.groups, scores.score()));
  scores.effects = effects_on(scores.groups, scores.score());
  if (const std::vector<KeyEffects>& keys = scores.effects.keys; keys.size() == 2) try {
      scores.effects = effects_on(scores.groups, scores.score(),
                                  {.interaction = {keys[0].keys[0], keys[1].keys[0]}});
    } catch (const InputError&) {  // no four groups have two values of each
    }
  return scores;
}

std::vector<std::string> key_names(const std::vector<std::string>& keys) {
  constexpr std::string_view silent = ".kind";
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    const bool says = !key.ends_with(silent);
    const std::string name = last_component(says ? key : key.substr(0, key.size() - silent.size()));
    names.push_back(name == "positional" ? "positions" : name);
  }
  const std::vector<std::string> all = names;
  for (size_t i = 0; i < keys.size(); ++i)
    if (std::ranges::count(all, all[i]) > 1) names[i] = keys[i];
  return names;
}

std::string name_of_group(const SeedGroups& groups, size_t index) {
  const std::vector<std::string> names = key_names(groups.varying);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{}={}", i > 0 ? ", " : "", names[i], groups.groups[index].values[i]);
  return text.empty() ? "mean" : text;
}

std::optional<MeanInterval> drawn_mean(const SeedGroups& groups, size_t group,
                                       const std::string& score) {
  const std::vector<double> values = groups.groups.at(group).numbers(score);
  if (!values.empty() && is_drawn_by_ratio(score, numbers_of(groups, score)))
    return geometric_mean(values);
  return groups.mean(group, score);
}

std::pair<int64_t, int64_t> style_of_group(const SeedGroups& groups, size_t index) {
  std::vector<std::string> firsts;
  std::vector<std::vector<std::string>> others;
  const auto at = [](auto& known, const auto& value) {
    const auto found = std::ranges::find(known, value);
    const auto place = found - known.begin();
    if (found == known.end()) known.push_back(value);
    return static_cast<int64_t>(place);
  };
  std::pair<int64_t, int64_t> style = {0, 0};
  for (size_t i = 0; i <= index; ++i) {
    const std::vector<std::string>& values = groups.groups[i].values;
    if (values.empty()) return {static_cast<int64_t>(index), 0};
    style = {at(firsts, values[0]),
             at(others, std::vector<std::string>(values.begin() + 1, values.end()))};
  }
  return style;
}

std::vector<Chart> charts_of_groups(const SeedGroups& groups,
                                    const std::vector<std::pair<std::string, Curves>>& curves) {
  std::vector<Chart> charts;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    std::map<std::string, std::vector<const Curve*>> by_name;
    std::vector<std::string> names;  // in the order of the rows
    for (const ScoredRun& run : groups.groups[i].runs)
      for (const auto& [path, all] : curves) {
        if (path != run.folder.path() || run.state == RunState::failed) continue;
        for (const Curve& curve : all.curves) {
          if (!is_charted(curve.name)) continue;
          std::vector<const Curve*>& known = by_name[curve.name];
          if (known.empty()) names.push_back(curve.name);
          known.push_back(&curve);
        }
      }
    for (const std::string& name : names) {
      const std::vector<const Curve*>& runs = by_name[name];
      const bool by_ratio = is_ratio_curve(name) && is_positive(runs);
      ChartLine line = mean_line(runs, by_ratio);
      if (is_linear(name)) line.low = line.high = {};  // no score
      line.label = name_of_group(groups, i);
      std::tie(line.colour, line.dash) = style_of_group(groups, i);
      line.curve.name = name;
      if (runs.size() > 1 && (name == "loss" || find_score(name)))
        for (const Curve* run : runs) line.seeds.push_back(*run);
      Chart& chart = chart_named(charts, name, curve_title(name));
      chart.by_ratio = by_ratio;
      chart.lines.push_back(std::move(line));
    }
  }
  return charts;
}

Json arrivals_json(const SeedGroups& groups, const std::vector<size_t>& order,
                   const ScoreTarget& target) {
  Json list = Json::array();
  bool any = false;
  int64_t left_out = 0;
  double last_step = 0;
  for (const size_t i : order) {
    Json steps = Json::array();
    std::vector<Reached> counted;
    for (const ScoredRun& run : groups.groups[i].runs) {
      const std::optional<Reached> first = reached(run.folder, target);
      any = any || first;
      if (!first) continue;
      if (run.state == RunState::failed || (run.state != RunState::done && first->reached == 0)) {
        ++left_out;
        continue;
      }
      counted.push_back(*first);
      last_step = std::max(last_step, first->last_step);
      steps.push(Json::object()
                     .set("seed", run.seed)
                     .set("step", first->reached > 0 ? first->steps : INFINITY));
    }
    const Reached median = median_reached(counted).value_or(Reached{.steps = INFINITY, .runs = 0});
    Json group = Json::object()
                     .set("reached", median.reached)
                     .set("of", median.runs)
                     .set("median", median.steps)
                     .set("last_step", median.last_step)
                     .set("last_seconds", median.last_seconds)
                     .set("steps", std::move(steps));
    if (median.seconds) group.set("seconds", *median.seconds);
    list.push(std::move(group));
  }
  check_input(any,
              "--target: no metrics.jsonl of these runs has {}; scores are written at evaluations, "
              "such as val.loss",
              target.score);
  return Json::object()
      .set("score", target.score)
      .set("value", target.value)
      .set("lower", lower_is_better(target.score))
      .set("last", last_step)
      .set("left_out", left_out)
      .set("groups", std::move(list));
}

}  // namespace heed
