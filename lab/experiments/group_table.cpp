#include "lab/experiments/group_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/support/numbers.h"
#include "core/joined.h"
#include "lab/experiments/cells.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/effect_table.h"
#include "lab/experiments/verdict.h"

namespace heed {
namespace {

struct GroupReport {
  const SeedGroups& all;
  const ComparisonOptions& options;
  std::string score;                // that is compared
  std::string chosen_by;            // "val.loss"
  std::vector<std::string> scores;  // shown
  Effects effects = effects_on(all, score, options.question);
  BestGroup best = best_group(all, chosen_by);

  std::string group_name(size_t i) const;
  Table::Row key_cells(size_t i) const;
  Table groups() const;
  Table every_score() const;
  std::string chosen() const;
  std::vector<std::string> warnings() const;
  Json groups_json() const;
  Json json() const;
};

std::string GroupReport::group_name(size_t i) const {
  return settings_text(all.varying, all.groups[i].values);
}

Table::Row GroupReport::key_cells(size_t i) const {
  return all.varying.empty() ? Table::Row{"all runs"} : all.groups[i].values;
}

Table::Row key_headings(const SeedGroups& all) {
  return all.varying.empty() ? Table::Row{""} : all.varying;
}

// Scores of the validation split, and the time. Those of test are only for the chosen group.
bool is_shown(const std::string& score) {
  return score == "seconds" || (score.starts_with("val.") && !is_count(score));
}

Table GroupReport::groups() const {
  Table table;
  std::vector<std::string> shown = options.columns;  // without the deciding score and its best
  const bool all_scores = shown.empty();
  if (all_scores) {
    for (const std::string& name : scores)
      if (is_shown(name) && name != chosen_by && name != "seconds") shown.push_back(name);
    shown.emplace_back("seconds");
  }
  if (!(all_scores && score == chosen_by) && std::ranges::find(shown, score) == shown.end())
    shown.push_back(score);
  Table::Row heading = key_headings(all);
  heading.emplace_back("n");
  std::vector<IntervalKind> kinds;
  const auto add_heading = [&](const std::string& name) {
    kinds.push_back(all.interval_kind(name));
    heading.push_back(title_of(name, kinds.back()));
  };
  if (all_scores) {
    add_heading(chosen_by);
    heading.emplace_back("best");
  }
  std::ranges::for_each(shown, add_heading);
  if (options.target) std::ranges::copy(target_headings(*options.target), back_inserter(heading));
  table.rows.push_back(heading);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const SeedGroup& group = all.groups[i];
    const auto mean_cell = [&](const std::string& name) {
      const std::optional<MeanInterval> mean = all.mean(i, name);
      return mean ? mean_text(*mean) : "-";
    };
    Table::Row row = key_cells(i);
    row.push_back(count_text(group, all_scores ? chosen_by : score));
    if (all_scores) {
      row.push_back(mean_cell(chosen_by));
      const std::optional<double> best_of = group.best(chosen_by);
      row.push_back(best_of ? number_text(*best_of) : "-");
    }
    for (const std::string& name : shown) row.push_back(mean_cell(name));
    if (options.target)
      std::ranges::copy(target_cells(median_reached(group, *options.target)), back_inserter(row));
    table.rows.push_back(std::move(row));
  }
  table.notes = interval_notes(kinds);
  return table;
}

// The cells of a comparison in CSV.
Table::Row exact_cells(const Comparison& each) {
  Table::Row row;
  if (each.seeds.empty()) return row;
  for (const double number :
       {static_cast<double>(each.seeds.size()), each.effect.size, each.effect.interval.low,
        each.effect.interval.high, each.effect.p, each.adjusted_p, each.flipped_p()})
    row.push_back(std::isfinite(number) ? fmt::format("{}", number) : "");
  return row;
}

// All statistics in one table, for CSV: a row for each group, then one for each value of a key and
// for each interaction, which has nothing in the columns of the other keys and of `runs`.
Table GroupReport::every_score() const {
  Table table;
  Table::Row heading = key_headings(all);
  heading.insert(heading.end(), {"runs", "failed"});
  for (const std::string& name : scores)
    for (const char* what : {"n", "mean", "low", "high", "interval", "best"})
      heading.push_back(name + " " + what);
  if (options.target) std::ranges::copy(target_headings(*options.target), back_inserter(heading));
  const size_t compared = heading.size();
  const std::string size = effects.size_name();
  for (const std::string& what :
       {std::string("seeds"), size, size + " low", size + " high", std::string("p"),
        std::string("p Holm"), std::string("p by sign flips")})
    heading.push_back(fmt::format("{} {}", score, what));
  table.rows.push_back(heading);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const SeedGroup& group = all.groups[i];
    Table::Row row = key_cells(i);
    row.push_back(std::to_string(group.runs.size()));
    row.push_back(std::to_string(group.failed()));
    for (const std::string& name : scores) {
      const MeanInterval mean = all.mean(i, name).value_or(MeanInterval());
      const bool has_interval = mean.n > 0 && std::isfinite(mean.half_width);
      row.push_back(std::to_string(mean.n));
      row.push_back(mean.n > 0 ? fmt::format("{}", mean.mean) : "");
      row.push_back(has_interval ? fmt::format("{}", mean.interval.low) : "");
      row.push_back(has_interval ? fmt::format("{}", mean.interval.high) : "");
      row.push_back(has_interval ? name_of(interval_kind_names, mean.kind) : "");
      row.push_back(mean.n > 0 ? fmt::format("{}", *group.best(name)) : "");
    }
    if (options.target)
      std::ranges::copy(target_cells(median_reached(group, *options.target)), back_inserter(row));
    for (const GroupComparison& each : effects.groups)
      if (each.group == i) std::ranges::copy(exact_cells(each), back_inserter(row));
    row.resize(heading.size());
    table.rows.push_back(std::move(row));
  }
  const auto add = [&](const auto& keys, const auto& values, const Comparison& each) {
    Table::Row row(compared);
    for (size_t i = 0; i < keys.size(); ++i)
      row[static_cast<size_t>(std::ranges::find(all.varying, keys[i]) - all.varying.begin())] =
          values[i];
    std::ranges::copy(exact_cells(each), back_inserter(row));
    row.resize(heading.size());
    table.rows.push_back(std::move(row));
  };
  for (const KeyEffects& key : effects.keys)
    for (const KeyEffects::Value& value : key.values) add(key.keys, value.values, value);
  for (const Interaction& each : effects.interactions.values)
    add(effects.interactions.keys, each.values, each);
  return table;
}

// The group that validation chooses, with its scores on the test splits.
std::string GroupReport::chosen() const {
  if (!best.index) return fmt::format("no run has {}: nothing is chosen", chosen_by);
  std::vector<std::string> test;
  for (const std::string& name : scores)
    if (name.starts_with("test") &&
        is_shown("val" + name.substr(std::min(name.find('.'), name.size()))))
      if (const std::optional<MeanInterval> mean = all.mean(*best.index, name))
        test.push_back(fmt::format("{} {}", title_of(name, mean->kind), mean_text(*mean)));
  std::string scores_of_test = test.empty() ? "no test scores" : joined(test);
  if (all.groups.size() == 1) return scores_of_test;
  return fmt::format("best by {}: {}; {}", chosen_by, group_name(*best.index), scores_of_test);
}

std::vector<std::string> GroupReport::warnings() const {
  std::vector<std::string> lines = all.failures();
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

Json statistics_json(const SeedGroups& all, size_t group, const std::vector<std::string>& names) {
  Json scores = Json::object();
  for (const std::string& name : names)
    if (const std::optional<MeanInterval> mean = all.mean(group, name))
      scores.set(name, Json::object()
                           .set("n", mean->n)
                           .set("mean", mean->mean)
                           .set("low", mean->interval.low)
                           .set("high", mean->interval.high)
                           .set("interval", name_of(interval_kind_names, mean->kind))
                           .set("best", *all.groups[group].best(name)));
  return scores;
}

Json comparison_json(const Comparison& each, const Effects& effects) {
  return Json::object()
      .set("seeds", std::ssize(each.seeds))
      .set(effects.size_name(), each.effect.size)
      .set("low", each.effect.interval.low)
      .set("high", each.effect.interval.high)
      .set("p", each.effect.p)
      .set("adjusted_p", each.adjusted_p)
      .set("sign_flip_p", each.flipped_p())
      .set("verdict", name_of(verdict_names, verdict_of(each, effects)))
      .set("text", verdict_text(each, effects));
}

template <class Words>
Json named_values(const Words& keys, const Words& values) {
  Json json = Json::object();
  for (size_t i = 0; i < keys.size(); ++i) json.set(keys[i], values[i]);
  return json;
}

Json GroupReport::groups_json() const {
  Json list = Json::array();
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const SeedGroup& group = all.groups[i];
    Json json = Json::object()
                    .set("config", named_values(all.varying, group.values))
                    .set("failed", group.failed())
                    .set("runs", Json::list(group.runs, scored_run_json))
                    .set("scores", statistics_json(all, i, scores));
    if (options.target)
      json.set("target", target_json(*options.target, median_reached(group, *options.target)));
    list.push(std::move(json));
  }
  return list;
}

Json GroupReport::json() const {
  Json by_key = Json::array(), against = Json::array(), interactions = Json::array();
  for (const KeyEffects& key : effects.keys)
    for (const KeyEffects::Value& value : key.values)
      by_key.push(comparison_json(value, effects)
                      .set("config", named_values(key.keys, value.values))
                      .set("against", named_values(key.keys, key.first)));
  for (const GroupComparison& each : effects.groups) {
    Json json = comparison_json(each, effects).set("group", static_cast<int64_t>(each.group));
    if (!effects.baseline.empty()) json.set("against", static_cast<int64_t>(each.against));
    against.push(std::move(json));
  }
  const auto& [keys, values] = effects.interactions;
  for (const Interaction& each : values)
    interactions.push(comparison_json(each, effects)
                          .set("config", named_values(keys, each.values))
                          .set("against", named_values(keys, each.against)));
  Json json = Json::object().set("groups", groups_json()).set("chosen_by", chosen_by);
  json.set("best", best.index ? Json(static_cast<int64_t>(*best.index)) : Json());
  json.set("compared_by", score)
      .set("compared_as", effects.size_name())
      .set("first", static_cast<int64_t>(effects.first))
      .set("by_key", std::move(by_key))
      .set(effects.baseline.empty() ? "against_first" : "against_baseline", std::move(against));
  if (!values.empty()) json.set("interactions", std::move(interactions));
  return json.set("sentences", sentences_of(effects, all)).set("warnings", warnings());
}

std::string text_of(const GroupReport& report) {
  const TableFormat format = report.options.format;
  std::string text;
  const auto add = [&](const Table& table, size_t left) {
    if (!text.empty()) text += '\n';
    text += formatted(table, left, format);
  };
  Table groups = report.groups();
  groups.notes.push_back(report.chosen());
  add(groups, std::max<size_t>(1, report.all.varying.size()));
  for (const auto& [table, left] : effect_tables(report.effects, report.all)) add(table, left);
  if (Table notes; !(notes.notes = report.warnings()).empty()) add(notes, 1);
  return text;
}

}  // namespace

std::string comparison_of_groups(const SeedGroups& groups, const ComparisonOptions& options,
                                 const std::string& score, const std::string& chosen_by,
                                 const std::vector<std::string>& scores) {
  const GroupReport report{groups, options, score, chosen_by, scores};
  return options.format == TableFormat::json  ? report.json().text(2) + "\n"
         : options.format == TableFormat::csv ? report.every_score().csv()
                                              : text_of(report);
}

}  // namespace heed
