#include "lab/experiments/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/text.h"
#include "lab/experiments/cells.h"

namespace heed {
namespace {

std::vector<std::string> keys_of(const std::vector<ScoredRun>& runs) {
  std::vector<const ScoredRun*> all;
  all.reserve(runs.size());
  for (const ScoredRun& run : runs) all.push_back(&run);
  return differing_keys(all);
}

// Rounds scores to five digits. Shows a missing value as "-"; CSV has nothing there, and all
// digits.
std::string score_cell(const NamedScore* score, TableFormat format) {
  if (!score) return format == TableFormat::csv ? "" : "-";
  const std::string text = score->json().text();
  return format != TableFormat::csv && text.find('.') != text.npos ? number_text(score->value)
                                                                   : text;
}

bool all_done(const std::vector<ScoredRun>& runs) {
  return std::ranges::all_of(runs,
                             [](const ScoredRun& run) { return run.state == RunState::done; });
}

// Replaces the names in the first column, which has a heading, by numbers that notes explain.
void number_runs(Table& table) {
  for (size_t i = 1; i < table.rows.size(); ++i) {
    std::string& name = table.rows[i][0];
    table.notes.push_back(fmt::format("{}: {}", i, name));
    name = std::to_string(i);
  }
}

// Returns whether text in this form is wider than the options allow.
bool is_too_wide(const Table& table, const ComparisonOptions& options) {
  std::vector<size_t> widths(table.rows[0].size());
  for (const Table::Row& row : table.rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], 2 + character_count(row[i]));  // 2: between columns
  return options.format == TableFormat::text && options.width > 0 &&
         std::accumulate(widths.begin(), widths.end(), size_t{0}) > options.width + 2;
}

Table transposed(const Table& table) {
  Table result{{}, table.notes};
  for (size_t column = 0; column < table.rows[0].size(); ++column) {
    Table::Row& row = result.rows.emplace_back();
    for (const Table::Row& each : table.rows) row.push_back(each[column]);
  }
  return result;
}

// A row for each run.
Table table_of(const std::vector<ScoredRun>& runs, const std::vector<std::string>& keys,
               const std::vector<std::string>& scores, const ComparisonOptions& options,
               bool with_state) {
  Table table;
  Table::Row heading = {""};
  std::ranges::copy(keys, std::back_inserter(heading));
  if (with_state) heading.emplace_back("state");
  std::ranges::copy(scores, std::back_inserter(heading));
  if (options.target)
    std::ranges::copy(target_headings(*options.target), std::back_inserter(heading));
  table.rows.push_back(std::move(heading));
  for (const ScoredRun& run : runs) {
    Table::Row row = {run.folder.path()};
    for (const std::string& key : keys) row.push_back(run.value(key));
    if (with_state) row.emplace_back(name_of(run_state_names, run.state));
    for (const std::string& score : scores)
      row.push_back(score_cell(run.find(score), options.format));
    if (options.target)
      std::ranges::copy(target_cells(reached(run.folder, *options.target)),
                        std::back_inserter(row));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table columns_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                      const ComparisonOptions& options) {
  Table table = table_of(runs, keys_of(runs), scores, options, !all_done(runs));
  if (is_too_wide(transposed(table), options)) number_runs(table);
  return transposed(table);
}

Table rows_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                   const ComparisonOptions& options) {
  std::vector<std::string> keys = keys_of(runs);
  std::erase(keys, "seed");
  keys.emplace_back("seed");
  Table table = table_of(runs, keys, scores, options, true);
  table.rows[0][0] = "run";
  if (is_too_wide(table, options)) number_runs(table);
  return table;
}

Json json_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                  const ComparisonOptions& options) {
  const std::vector<std::string> keys = keys_of(runs);
  return Json::list(runs, [&](const ScoredRun& run) {
    Json config = Json::object(), values = Json::object();
    for (const std::string& key : keys) config.set(key, run.value(key));
    for (const std::string& score : scores)
      if (const NamedScore* const found = run.find(score)) values.set(score, found->json());
    Json json = scored_run_json(run);
    json.set("config", std::move(config)).set("scores", std::move(values));
    if (options.target)
      json.set("target", target_json(*options.target, reached(run.folder, *options.target)));
    return json;
  });
}

}  // namespace heed
