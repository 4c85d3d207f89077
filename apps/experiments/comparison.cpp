#include "apps/experiments/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/experiments/curves.h"
#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "core/check.h"
#include "core/joined.h"

namespace heed {
namespace {

const char* const interval_note = "mean ± half of its 95 % interval (Student)";

std::string number_text(double number) { return fmt::format("{:.5g}", number); }

// A median of steps or seconds.
std::string reached_text(const std::optional<double>& number) {
  if (!number) return "-";
  return std::isinf(*number) ? "never" : number_text(*number);
}

std::vector<std::string> target_headings(const ScoreTarget& target) {
  const std::string reached = fmt::format("{} {} {}", target.score,
                                          lower_is_better(target.score) ? "≤" : "≥", target.value);
  return {"steps to " + reached, "seconds to " + reached};
}

std::vector<std::string> target_cells(const std::optional<Reached>& reached) {
  if (!reached) return {"-", "-"};
  return {reached_text(reached->steps), reached_text(reached->seconds)};
}

Json target_json(const ScoreTarget& target, const std::optional<Reached>& reached) {
  Json json = Json::object().set("score", target.score).set("value", target.value);
  if (reached) json.set("steps", reached->steps).set("seconds", reached->seconds.value_or(NAN));
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

struct GroupReport {
  const RunGroups& all;
  const ComparisonOptions& options;
  std::string score;                // whose differences are tested
  std::string chosen_by;            // "val.loss"
  std::vector<std::string> scores;  // of all runs
  std::vector<Comparison> comparisons = compare_with_first(all, score);
  BestGroup best = best_group(all, chosen_by);

  std::string group_name(size_t i) const;
  Table::Row key_cells(size_t i) const;
  Table groups() const;
  Table differences() const;
  Table every_score() const;
  std::string chosen() const;
  std::vector<std::string> warnings() const;
  Json json() const;
};

// optim.lr = 0.001, model.layers = 2
std::string GroupReport::group_name(size_t i) const {
  std::vector<std::string> parts;
  for (size_t key = 0; key < all.varying.size(); ++key)
    parts.push_back(fmt::format("{} = {}", all.varying[key], all.groups[i].values[key]));
  return parts.empty() ? "the only group" : joined(parts);
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

Table GroupReport::differences() const {
  Table table;
  Table::Row heading = key_headings(all);
  heading.insert(heading.end(), {"n", "difference", "95 % interval", "p"});
  if (comparisons.size() > 1) heading.emplace_back("p (Holm)");
  table.rows.push_back(heading);
  for (const Comparison& each : comparisons) {
    Table::Row row = key_cells(each.group);
    row.push_back(std::to_string(each.seeds.size()));
    const bool any = !each.seeds.empty(), several = each.seeds.size() > 1;
    row.push_back(any ? fmt::format("{:+.4g}", each.difference) : "-");
    row.push_back(several ? fmt::format("{:+.4g} … {:+.4g}", each.interval.low, each.interval.high)
                          : "-");
    row.push_back(any ? fmt::format("{:.3g}", each.p) : "-");
    if (comparisons.size() > 1) row.push_back(any ? fmt::format("{:.3g}", each.adjusted_p) : "-");
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("{} minus that of {}, paired by seed; interval: BCa bootstrap; p: sign "
                  "flips{}",
                  score, group_name(0), comparisons.size() > 1 ? ", adjusted by Holm" : "")};
  return table;
}

// All statistics in one table, for CSV.
Table GroupReport::every_score() const {
  Table table;
  Table::Row heading = key_headings(all);
  heading.emplace_back("runs");
  for (const std::string& name : scores)
    for (const char* what : {"n", "mean", "half width", "best"})
      heading.push_back(name + " " + what);
  if (options.target) std::ranges::copy(target_headings(*options.target), back_inserter(heading));
  for (const char* what : {"seeds", "difference", "low", "high", "p", "p Holm"})
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
      row.push_back(mean.n > 1 ? fmt::format("{}", mean.half_width) : "");
      row.push_back(mean.n > 0 ? fmt::format("{}", *group.best(name)) : "");
    }
    if (options.target)
      std::ranges::copy(target_cells(median_reached(group, *options.target)), back_inserter(row));
    const Comparison* const each = i > 0 ? &comparisons[i - 1] : nullptr;
    if (each && !each->seeds.empty())
      for (const double number :
           {static_cast<double>(each->seeds.size()), each->difference, each->interval.low,
            each->interval.high, each->p, each->adjusted_p})
        row.push_back(std::isfinite(number) ? fmt::format("{}", number) : "");
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
  const std::string scores_of_test = test.empty() ? "no test scores" : joined(test);
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
  if (const std::string note = note_on_data(comparisons); !note.empty()) lines.push_back(note);
  std::vector<int64_t> seeds;  // that two groups have in common
  int64_t without = 0;
  for (const Comparison& each : comparisons)
    if (!each.seeds.empty())
      seeds.push_back(std::ssize(each.seeds));
    else
      without += each.same_data ? 1 : 0;
  if (without > 0)
    lines.push_back(fmt::format("{} of {} groups have no seed in common with the first", without,
                                comparisons.size()));
  if (seeds.empty()) return lines;
  const int64_t fewest = std::ranges::min(seeds), count = std::ssize(seeds);
  const double p = smallest_p(fewest, count);
  if (p >= 0.05)
    lines.push_back(fmt::format(
        "too few seeds: {} in {} cannot give a p below {:.3g}, so none below 0.05; train {} seeds",
        counted(fewest, "seed"), counted(count, "comparison"), p, least_differences(count)));
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

Json GroupReport::json() const {
  Json groups = Json::array(), differences = Json::array();
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const RunGroup& group = all.groups[i];
    Json config = Json::object(), runs = Json::array();
    for (size_t key = 0; key < all.varying.size(); ++key)
      config.set(all.varying[key], group.values[key]);
    for (const ScoredRun& run : group.runs)
      runs.push(Json::object().set("run", run.folder.path()).set("seed", run.seed));
    Json json = Json::object()
                    .set("config", std::move(config))
                    .set("runs", std::move(runs))
                    .set("scores", statistics_json(group, scores));
    if (options.target)
      json.set("target", target_json(*options.target, median_reached(group, *options.target)));
    groups.push(std::move(json));
  }
  for (const Comparison& each : comparisons)
    differences.push(Json::object()
                         .set("group", static_cast<int64_t>(each.group))
                         .set("seeds", std::ssize(each.seeds))
                         .set("difference", each.difference)
                         .set("low", each.interval.low)
                         .set("high", each.interval.high)
                         .set("p", each.p)
                         .set("adjusted_p", each.adjusted_p));
  Json json = Json::object().set("groups", std::move(groups)).set("chosen_by", chosen_by);
  json.set("best", best.index ? Json(static_cast<int64_t>(*best.index)) : Json());
  return json.set("compared_by", score)
      .set("against_first", std::move(differences))
      .set("warnings", warnings());
}

void check_score(const std::vector<std::string>& scores, const std::string& score) {
  check_input(std::ranges::find(scores, score) != scores.end(),
              "--score {}: no run has such a score, but: {}", score,
              scores.empty() ? "none" : joined(scores));
}

std::string text_of(const GroupReport& report) {
  const size_t left = std::max<size_t>(1, report.all.varying.size());
  std::string text;
  const auto add = [&](const Table& table) {
    if (!text.empty()) text += '\n';
    text += report.options.format == TableFormat::text ? table.text(left) : table.markdown(left);
  };
  Table groups = report.groups();
  groups.notes.push_back(report.chosen());
  add(groups);
  if (!report.comparisons.empty()) add(report.differences());
  if (Table notes; !(notes.notes = report.warnings()).empty()) add(notes);
  return text;
}

std::string text_of_runs(const std::vector<ScoredRun>& runs, const ComparisonOptions& options) {
  std::vector<const ScoredRun*> all;
  for (const ScoredRun& run : runs) all.push_back(&run);
  const std::vector<std::string> keys = differing_keys(all);
  if (options.format == TableFormat::json) return json_of_runs(runs, keys, options).text(2) + "\n";
  const Table table = table_of_runs(runs, keys, score_names(runs), options);
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
  if (!groups.repeats_over_seeds()) return text_of_runs(runs, options);
  const std::string chosen_by = runs[0].chosen_by;
  const GroupReport report{groups, options, options.score.empty() ? chosen_by : options.score,
                           chosen_by, scores};
  return options.format == TableFormat::json  ? report.json().text(2) + "\n"
         : options.format == TableFormat::csv ? report.every_score().csv()
                                              : text_of(report);
}

}  // namespace heed
