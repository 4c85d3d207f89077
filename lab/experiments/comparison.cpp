#include "lab/experiments/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "core/check.h"
#include "core/joined.h"
#include "lab/experiments/curves.h"

namespace heed {
namespace {

const char* const interval_note = "mean ± half of its 95 % interval (Student)";

std::string number_text(double number) { return fmt::format("{:.5g}", number); }

std::vector<std::string> target_headings(const ScoreTarget& target) {
  const std::string reached = fmt::format("{} {} {}", target.score,
                                          lower_is_better(target.score) ? "≤" : "≥", target.value);
  return {"steps to " + reached, "seconds to " + reached};
}

Json target_json(const ScoreTarget& target, const std::optional<Reached>& reached) {
  Json json = Json::object().set("score", target.score).set("value", target.value);
  if (reached)
    json.set("steps", reached->steps)
        .set("seconds", reached->seconds.value_or(NAN))
        .set("runs", reached->runs)
        .set("reached", reached->reached)
        .set("last_step", reached->last_step);
  return json;
}

// ---- A column for each run ----

// Rounds scores to five digits. Shows a missing value as "-".
std::string score_cell(const Json* value) {
  if (!value) return "-";
  const std::string text = value->text();
  return value->is_number() && text.find('.') != text.npos ? number_text(value->number()) : text;
}

Table table_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& keys,
                    const std::vector<std::string>& scores, const ComparisonOptions& options) {
  const bool exact = options.format == TableFormat::csv;
  Table table;
  const auto add = [&](const std::string& name, const auto& cell) {
    Table::Row row{name};
    for (const ScoredRun& run : runs) row.push_back(cell(run));
    table.rows.push_back(std::move(row));
  };
  add("", [](const ScoredRun& run) { return run.folder.path(); });
  for (const std::string& key : keys)
    add(key, [&](const ScoredRun& run) { return run.value(key); });
  for (const std::string& score : scores)
    add(score, [&](const ScoredRun& run) {
      const Json* const value = run.find(score);
      return !exact ? score_cell(value) : value ? value->text() : "";
    });
  if (options.target)
    for (size_t i = 0; i < 2; ++i)
      add(target_headings(*options.target)[i], [&](const ScoredRun& run) {
        return target_cells(reached(run.folder, *options.target))[i];
      });
  return table;
}

Json json_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& keys,
                  const ComparisonOptions& options) {
  Json all = Json::array();
  for (const ScoredRun& run : runs) {
    Json config = Json::object(), scores = Json::object();
    for (const std::string& key : keys) config.set(key, run.value(key));
    for (const auto& [name, value] : run.scores) scores.set(name, value);
    Json json = Json::object()
                    .set("run", run.folder.path())
                    .set("config", std::move(config))
                    .set("scores", std::move(scores));
    if (options.target)
      json.set("target", target_json(*options.target, reached(run.folder, *options.target)));
    all.push(std::move(json));
  }
  return all;
}

// ---- A row for each group ----

Table::Row effect_headings(Table::Row row, const Effects& effects, bool several) {
  row.insert(row.end(), {"n", effects.size_name(), "95 % interval", "p"});
  if (several) row.emplace_back("p (Holm)");
  return row;
}

Table::Row effect_row(Table::Row row, const Comparison& each, bool by_ratio, bool several) {
  const auto size = [&](double x) {
    return by_ratio ? fmt::format("{:.4g}", x) : fmt::format("{:+.4g}", x);
  };
  row.push_back(std::to_string(each.seeds.size()));
  if (each.seeds.empty()) {
    row.resize(row.size() + (several ? 4 : 3), "-");
    return row;
  }
  const Interval& interval = each.effect.interval;
  row.push_back(size(each.effect.size));
  row.push_back(std::isfinite(interval.high)
                    ? fmt::format("{} … {}", size(interval.low), size(interval.high))
                    : "-");
  row.push_back(fmt::format("{:.3g}", each.effect.p));
  if (several) row.push_back(fmt::format("{:.3g}", each.adjusted_p));
  return row;
}

struct GroupReport {
  const RunGroups& all;
  const ComparisonOptions& options;
  std::string score;                // that is compared
  std::string chosen_by;            // "val.loss"
  std::vector<std::string> scores;  // of all runs
  Effects effects = effects_on(all, score);
  BestGroup best = best_group(all, chosen_by);

  std::string group_name(size_t i) const;
  Table::Row key_cells(size_t i) const;
  Table groups() const;
  Table every_score() const;
  std::string chosen() const;
  std::vector<std::string> warnings() const;
  Json json() const;
};

std::string GroupReport::group_name(size_t i) const {
  return settings_text(all.varying, all.groups[i].values);
}

Table::Row GroupReport::key_cells(size_t i) const {
  return all.varying.empty() ? Table::Row{"all runs"} : all.groups[i].values;
}

Table::Row key_headings(const RunGroups& all) {
  return all.varying.empty() ? Table::Row{""} : all.varying;
}

// Scores of the validation split, and the time. Those of test are only for the chosen group.
bool is_shown(const std::string& score) {
  return score == "seconds" || (score.starts_with("val.") && !is_count(score));
}

Table GroupReport::groups() const {
  Table table;
  Table::Row heading = key_headings(all);
  heading.insert(heading.end(), {"n", chosen_by, "best"});
  std::vector<std::string> others;
  for (const std::string& name : scores)
    if (is_shown(name) && name != chosen_by && name != "seconds") others.push_back(name);
  others.emplace_back("seconds");
  if (score != chosen_by && std::ranges::find(others, score) == others.end())
    others.push_back(score);
  heading.insert(heading.end(), others.begin(), others.end());
  if (options.target) std::ranges::copy(target_headings(*options.target), back_inserter(heading));
  table.rows.push_back(heading);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const RunGroup& group = all.groups[i];
    const auto mean_cell = [&](const std::string& name) {
      const std::optional<MeanInterval> mean = group.mean(name);
      return mean ? mean_text(*mean) : "-";
    };
    Table::Row row = key_cells(i);
    const size_t done = group.numbers(chosen_by).size();
    row.push_back(done == group.runs.size() ? std::to_string(done)
                                            : fmt::format("{} of {}", done, group.runs.size()));
    row.push_back(mean_cell(chosen_by));
    const std::optional<double> best_of = group.best(chosen_by);
    row.push_back(best_of ? number_text(*best_of) : "-");
    for (const std::string& name : others) row.push_back(mean_cell(name));
    if (options.target)
      std::ranges::copy(target_cells(median_reached(group, *options.target)), back_inserter(row));
    table.rows.push_back(std::move(row));
  }
  table.notes = {interval_note};
  return table;
}

// The cells of a comparison in CSV.
Table::Row exact_cells(const Comparison& each) {
  Table::Row row;
  if (each.seeds.empty()) return row;
  for (const double number :
       {static_cast<double>(each.seeds.size()), each.effect.size, each.effect.interval.low,
        each.effect.interval.high, each.effect.p, each.adjusted_p})
    row.push_back(std::isfinite(number) ? fmt::format("{}", number) : "");
  return row;
}

// All statistics in one table, for CSV: a row for each group, then one for each value of a key,
// which has nothing in the columns of the other keys and of `runs`.
Table GroupReport::every_score() const {
  Table table;
  Table::Row heading = key_headings(all);
  heading.emplace_back("runs");
  for (const std::string& name : scores)
    for (const char* what : {"n", "mean", "half width", "best"})
      heading.push_back(name + " " + what);
  if (options.target) std::ranges::copy(target_headings(*options.target), back_inserter(heading));
  const size_t compared = heading.size();
  for (const char* what : {"seeds", effects.size_name(), "low", "high", "p", "p Holm"})
    heading.push_back(fmt::format("{} {}", score, what));
  table.rows.push_back(heading);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const RunGroup& group = all.groups[i];
    Table::Row row = key_cells(i);
    row.push_back(std::to_string(group.runs.size()));
    for (const std::string& name : scores) {
      const MeanInterval mean = group.mean(name).value_or(MeanInterval());
      row.push_back(std::to_string(mean.n));
      row.push_back(mean.n > 0 ? fmt::format("{}", mean.mean) : "");
      row.push_back(
          std::isfinite(mean.half_width) && mean.n > 1 ? fmt::format("{}", mean.half_width) : "");
      row.push_back(mean.n > 0 ? fmt::format("{}", *group.best(name)) : "");
    }
    if (options.target)
      std::ranges::copy(target_cells(median_reached(group, *options.target)), back_inserter(row));
    for (const GroupComparison& each : effects.groups)
      if (each.group == i) std::ranges::copy(exact_cells(each), back_inserter(row));
    row.resize(heading.size());
    table.rows.push_back(std::move(row));
  }
  for (const KeyEffects& key : effects.keys)
    for (const KeyEffects::Value& value : key.values) {
      Table::Row row(compared);
      for (size_t i = 0; i < key.keys.size(); ++i)
        row[static_cast<size_t>(std::ranges::find(all.varying, key.keys[i]) -
                                all.varying.begin())] = value.values[i];
      std::ranges::copy(exact_cells(value), back_inserter(row));
      row.resize(heading.size());
      table.rows.push_back(std::move(row));
    }
  return table;
}

// The group that validation chooses, with its scores on the test splits.
std::string GroupReport::chosen() const {
  if (!best.index) return fmt::format("no run has {}: nothing is chosen", chosen_by);
  std::vector<std::string> test;
  for (const std::string& name : scores)
    if (name.starts_with("test") &&
        is_shown("val" + name.substr(std::min(name.find('.'), name.size()))))
      if (const std::optional<MeanInterval> mean = all.groups[*best.index].mean(name))
        test.push_back(fmt::format("{} {}", name, mean_text(*mean)));
  std::string scores_of_test = test.empty() ? "no test scores" : joined(test);
  if (all.groups.size() == 1) return scores_of_test;
  return fmt::format("best by {}: {}; {}", chosen_by, group_name(*best.index), scores_of_test);
}

std::vector<std::string> GroupReport::warnings() const {
  std::vector<std::string> lines;
  for (const std::string& path : all.repeats)
    lines.push_back(
        fmt::format("left out: {}, which repeats the config and seed of another", path));
  for (const size_t i : best.left_out)
    lines.push_back(fmt::format("not compared by {}: {}, which has it for {} only", chosen_by,
                                group_name(i),
                                counted(std::ssize(all.groups[i].numbers(chosen_by)), "seed")));
  std::ranges::copy(warnings_of(effects, all), back_inserter(lines));
  return lines;
}

Json statistics_json(const RunGroup& group, const std::vector<std::string>& names) {
  Json scores = Json::object();
  for (const std::string& name : names)
    if (const std::optional<MeanInterval> mean = group.mean(name))
      scores.set(name, Json::object()
                           .set("n", mean->n)
                           .set("mean", mean->mean)
                           .set("half_width", mean->half_width)
                           .set("best", *group.best(name)));
  return scores;
}

Json comparison_json(const Comparison& each, const Effects& effects) {
  return Json::object()
      .set("seeds", std::ssize(each.seeds))
      .set(effects.size_name(), each.effect.size)
      .set("low", each.effect.interval.low)
      .set("high", each.effect.interval.high)
      .set("p", each.effect.p)
      .set("adjusted_p", each.adjusted_p);
}

Json named_values(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  Json json = Json::object();
  for (size_t i = 0; i < keys.size(); ++i) json.set(keys[i], values[i]);
  return json;
}

Json GroupReport::json() const {
  Json groups = Json::array(), by_key = Json::array(), against_first = Json::array();
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const RunGroup& group = all.groups[i];
    Json runs = Json::array();
    for (const ScoredRun& run : group.runs)
      runs.push(Json::object().set("run", run.folder.path()).set("seed", run.seed));
    Json json = Json::object()
                    .set("config", named_values(all.varying, group.values))
                    .set("runs", std::move(runs))
                    .set("scores", statistics_json(group, scores));
    if (options.target)
      json.set("target", target_json(*options.target, median_reached(group, *options.target)));
    groups.push(std::move(json));
  }
  for (const KeyEffects& key : effects.keys)
    for (const KeyEffects::Value& value : key.values)
      by_key.push(comparison_json(value, effects)
                      .set("config", named_values(key.keys, value.values))
                      .set("against", named_values(key.keys, key.first)));
  for (const GroupComparison& each : effects.groups)
    against_first.push(
        comparison_json(each, effects).set("group", static_cast<int64_t>(each.group)));
  Json json = Json::object().set("groups", std::move(groups)).set("chosen_by", chosen_by);
  json.set("best", best.index ? Json(static_cast<int64_t>(*best.index)) : Json());
  return json.set("compared_by", score)
      .set("compared_as", effects.size_name())
      .set("first", static_cast<int64_t>(effects.first))
      .set("by_key", std::move(by_key))
      .set("against_first", std::move(against_first))
      .set("warnings", warnings());
}

void check_score(const std::vector<std::string>& scores, const std::string& score) {
  check_input(std::ranges::find(scores, score) != scores.end(),
              "--score {}: no run has such a score; choose one of {}", score,
              scores.empty() ? "none" : joined(scores));
}

std::string text_of(const GroupReport& report) {
  std::string text;
  const auto add = [&](const Table& table, size_t left) {
    if (!text.empty()) text += '\n';
    text += report.options.format == TableFormat::text ? table.text(left) : table.markdown(left);
  };
  Table groups = report.groups();
  groups.notes.push_back(report.chosen());
  add(groups, std::max<size_t>(1, report.all.varying.size()));
  for (const auto& [table, left] : effect_tables(report.effects, report.all)) add(table, left);
  if (Table notes; !(notes.notes = report.warnings()).empty()) add(notes, 1);
  return text;
}

// The score that is compared.
std::string compared_score(const std::vector<ScoredRun>& runs, const ComparisonOptions& options) {
  return options.score.empty() ? runs[0].chosen_by : options.score;
}

std::string text_of_runs(const std::vector<ScoredRun>& runs, const RunGroups& groups,
                         const ComparisonOptions& options) {
  std::vector<const ScoredRun*> all;
  all.reserve(runs.size());
  for (const ScoredRun& run : runs) all.push_back(&run);
  const std::vector<std::string> keys = differing_keys(all);
  if (options.format == TableFormat::json) return json_of_runs(runs, keys, options).text(2) + "\n";
  Table table = table_of_runs(runs, keys, score_names(runs), options);
  const Effects effects = effects_on(groups, compared_score(runs, options));
  if (effects.any()) table.notes = warnings_of(effects, groups);
  return options.format == TableFormat::csv    ? table.csv()
         : options.format == TableFormat::text ? table.text()
                                               : table.markdown();
}

void check_target(const std::vector<ScoredRun>& runs, const ScoreTarget& target) {
  check_input(
      std::ranges::any_of(
          runs, [&](const ScoredRun& run) { return reached(run.folder, target).has_value(); }),
      "--target: no metrics.jsonl of these runs has {}; scores are written at evaluations, "
      "such as val.loss",
      target.score);
}

}  // namespace

std::vector<std::string> target_cells(const std::optional<Reached>& reached) {
  if (!reached) return {"-", "-"};
  const auto cell = [&](const std::optional<double>& number, double last) {
    if (!number) return std::string("-");
    if (std::isfinite(*number)) return number_text(*number);
    return reached->reached == 0 ? "never" : "more than " + number_text(last);
  };
  return {cell(reached->steps, reached->last_step), cell(reached->seconds, reached->last_seconds)};
}

std::vector<EffectTable> effect_tables(const Effects& effects, const RunGroups& groups) {
  const std::string interval =
      fmt::format("interval: Student on {}; p: sign flips",
                  effects.by_ratio ? "the logarithms of the ratios" : "the differences");
  const char* const against = effects.by_ratio ? "divided by" : "minus";
  std::vector<EffectTable> tables;
  if (!effects.keys.empty()) {
    const bool several = std::ranges::any_of(
        effects.keys, [](const KeyEffects& key) { return key.values.size() > 1; });
    Table table{{effect_headings({"key", "value", "against"}, effects, several)}, {}};
    for (const KeyEffects& key : effects.keys)
      for (const KeyEffects::Value& value : key.values)
        table.rows.push_back(effect_row({joined(key.keys), joined(value.values), joined(key.first)},
                                        value, effects.by_ratio, several));
    table.notes = {fmt::format(
        "{0} with the value {1} {0} with the one in `against`, {2} over the other keys within each "
        "seed; {3}{4}",
        effects.score, against, effects.by_ratio ? "geometric mean" : "mean", interval,
        several ? ", Holm within each key" : "")};
    tables.push_back({std::move(table), 3});
  }
  if (!effects.groups.empty()) {
    const bool several = effects.groups.size() > 1;
    Table table{{effect_headings(groups.varying, effects, several)}, {}};
    for (const GroupComparison& each : effects.groups)
      table.rows.push_back(
          effect_row(groups.groups[each.group].values, each, effects.by_ratio, several));
    table.notes = {fmt::format(
        "{} {} that of {}, paired by seed; {}{}", effects.score, against,
        settings_text(groups.varying, groups.groups[effects.first].values), interval,
        several ? fmt::format(", Holm over {} comparisons", effects.groups.size()) : "")};
    tables.push_back({std::move(table), groups.varying.size()});
  }
  return tables;
}

std::string mean_text(const MeanInterval& mean) {
  const double half = mean.half_width;
  if (!(half > 0) || std::isinf(half)) return number_text(mean.mean);
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(half))), 0, 12);
  return fmt::format("{:.{}f} ± {:.{}f}", mean.mean, decimals, half, decimals);
}

std::string comparison_of(std::vector<ScoredRun> runs, const ComparisonOptions& options) {
  check(!runs.empty(), "there are no runs to compare");
  if (options.target) check_target(runs, *options.target);
  const RunGroups groups = group_runs(runs);
  const std::vector<std::string> scores = score_names(runs);
  if (!options.score.empty()) check_score(scores, options.score);
  if (!groups.repeats_over_seeds()) return text_of_runs(runs, groups, options);
  const GroupReport report{groups, options, compared_score(runs, options), runs[0].chosen_by,
                           scores};
  return options.format == TableFormat::json  ? report.json().text(2) + "\n"
         : options.format == TableFormat::csv ? report.every_score().csv()
                                              : text_of(report);
}

}  // namespace heed
