#include "lab/experiments/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "core/joined.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/group_table.h"
#include "lab/experiments/kind_scores.h"
#include "lab/experiments/run_table.h"

namespace heed {
namespace {

void check_target(const std::vector<ScoredRun>& runs, const ScoreTarget& target) {
  check_input(
      std::ranges::any_of(
          runs, [&](const ScoredRun& run) { return reached(run.folder, target).has_value(); }),
      "--target: no metrics.jsonl of these runs has {}; scores are written at evaluations, "
      "such as val.loss",
      target.score);
}

// Single runs: a row each if they are asked for, else a column each.
std::string text_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                         const std::string& score, const ComparisonOptions& options) {
  if (options.format == TableFormat::json)
    return json_of_runs(runs, scores, options).text(2) + "\n";
  if (options.by_run) return formatted(rows_of_runs(runs, scores, options), 1, options.format);
  Table table = columns_of_runs(runs, scores, options);
  const SeedGroups groups = group_runs(runs);
  std::ranges::copy(groups.failures(), back_inserter(table.notes));
  const Effects effects = effects_on(groups, score);
  if (effects.any()) std::ranges::copy(warnings_of(effects, groups), back_inserter(table.notes));
  return formatted(table, 1, options.format);
}

Table long_table(const SeedGroups& groups, const std::vector<std::string>& scores) {
  Table table{{{"group", "score", "kind", "n", "mean", "low", "high"}}, {}};
  for (size_t i = 0; i < groups.groups.size(); ++i)
    for (const std::string& name : scores) {
      const std::optional<MeanInterval> mean = groups.mean(i, name);
      if (!mean) continue;
      const auto [score, kind] = split_kind(name);
      const auto limit = [&](double value) {
        return mean->has_interval() ? fmt::format("{}", value) : "";
      };
      table.rows.push_back({settings_text(groups.varying, groups.groups[i].values), score, kind,
                            std::to_string(mean->n), fmt::format("{}", mean->mean),
                            limit(mean->interval.low), limit(mean->interval.high)});
    }
  return table;
}

// Returns the score that effects are on: one that is shown.
std::string compared_score(const ComparisonOptions& options, const std::string& chosen_by) {
  if (!options.score.empty()) return options.score;
  const std::vector<std::string>& columns = options.columns;
  const bool shown = columns.empty() || std::ranges::find(columns, chosen_by) != columns.end();
  return shown ? chosen_by : columns[0];
}

}  // namespace

std::string formatted(const Table& table, size_t left, TableFormat format) {
  return format == TableFormat::csv        ? table.csv()
         : format == TableFormat::markdown ? table.markdown(left)
         : format == TableFormat::latex    ? table.latex(left)
                                           : table.text(left);
}

std::string comparison_of(std::vector<ScoredRun> runs, const ComparisonOptions& options) {
  check(!runs.empty(), "there are no runs to compare");
  if (!options.by_run) check_any_survives(runs);
  if (options.target) check_target(runs, *options.target);
  const std::vector<std::string> all = score_names(runs);
  if (!options.score.empty()) check_has_score("--score", all, options.score);
  for (const std::string& name : options.columns) check_has_score("--columns", all, name);
  std::vector<std::string> scores = options.columns.empty() ? all : options.columns;
  if (options.columns.empty() && options.format != TableFormat::json &&
      options.format != TableFormat::csv)
    std::erase_if(
        scores, [&](const std::string& name) { return is_of_part(name) && name != options.score; });
  if (options.long_rows) {
    std::erase_if(scores, is_count);
    return long_table(group_runs(runs), scores).csv();
  }
  const std::string chosen_by = runs[0].chosen_by, score = compared_score(options, chosen_by);
  if (options.by_run) return text_of_runs(runs, scores, score, options);
  const SeedGroups groups = group_runs(runs);
  const bool asked = !options.question.baseline.empty() || !options.question.interaction.empty();
  return groups.repeats_over_seeds() || asked
             ? comparison_of_groups(groups, options, score, chosen_by, scores)
             : text_of_runs(runs, scores, score, options);
}

}  // namespace heed
