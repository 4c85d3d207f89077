// heed compare: lists the config keys in which runs differ, and the scores of each.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/commands/command.h"
#include "apps/support/csv.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/output.h"
#include "apps/training/saved_run.h"
#include "core/text.h"

namespace heed {
namespace {

struct CompareArguments final : CommandArguments {
  std::vector<std::string> paths;
  bool json = false, csv = false;

  std::vector<Option> options() override {
    return {{"RUN...", "", &paths, "Folders of runs"},
            json_option(json),
            {"--csv", "", &csv, "Print CSV"}};
  }
  int run() const override;
};

constexpr int64_t max_result_bytes = 1 << 20;

struct Row {
  std::string name;                // a key of the config, or a score: test.loss
  std::vector<std::string> cells;  // one for each run; "" if it has no value
  bool is_score = false;
};

std::string value_of(const ConfigListing& listing, const std::string& key) {
  for (const ConfigSection& section : listing)
    for (const ConfigEntry& entry : section.entries)
      if (entry.key == key) return entry.value;
  return "";
}

std::vector<Row> differing_keys(const std::vector<ConfigListing>& listings) {
  std::set<std::string> differing;
  for (const ConfigListing& listing : listings)
    for (const ConfigDifference& difference : config_differences(listings[0], listing))
      differing.insert(difference.key);
  std::vector<Row> rows;
  for (const ConfigSection& section : listings[0])
    for (const ConfigEntry& entry : section.entries) {
      if (!differing.contains(entry.key)) continue;
      Row row{entry.key, {}, false};
      for (const ConfigListing& listing : listings)
        row.cells.push_back(value_of(listing, entry.key));
      rows.push_back(std::move(row));
    }
  return rows;
}

// Adds result.json as rows: steps, seconds, …, val.loss, …
void flatten(const Json& json, const std::string& prefix, std::vector<Row>& rows, size_t run,
             size_t runs) {
  for (const auto& [name, value] : json.members()) {
    if (value.is_object()) {
      flatten(value, prefix + name + ".", rows, run, runs);
      continue;
    }
    const std::string full = prefix + name;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == full; });
    if (row == rows.end())
      row = rows.insert(rows.end(), {full, std::vector<std::string>(runs), true});
    row->cells[run] = value.text();
  }
}

std::vector<Row> scores_of(const std::vector<SavedRun>& runs) {
  std::vector<Row> rows;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string path = runs[i].folder.result();
    if (!exists(path)) continue;  // while the run is training
    const Json result = Json::parse(read_file(path, "result", max_result_bytes), path);
    check_input(result.is_object(), "{}: expected an object of scores", path);
    flatten(result, "", rows, i, runs.size());
  }
  return rows;
}

std::string as_csv(const std::vector<std::string>& names, const std::vector<Row>& rows) {
  const auto line = [](const std::string& first, const std::vector<std::string>& cells) {
    std::string text = csv_cell(first);
    for (const std::string& cell : cells) text += "," + csv_cell(cell);
    return text + "\n";
  };
  std::string text = line("", names);
  for (const Row& row : rows) text += line(row.name, row.cells);
  return text;
}

std::string as_json(const std::vector<std::string>& names, const std::vector<Row>& rows) {
  Json runs = Json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    Json config = Json::object(), scores = Json::object();
    for (const Row& row : rows) {
      if (!row.is_score)
        config.set(row.name, row.cells[i]);
      else if (!row.cells[i].empty())
        scores.set(row.name, Json::parse(row.cells[i], names[i]));
    }
    runs.push(Json::object()
                  .set("run", names[i])
                  .set("config", std::move(config))
                  .set("scores", std::move(scores)));
  }
  return runs.text(2) + "\n";
}

// Rounds scores to five digits. Shows a missing value as "-".
std::string table_cell(const Row& row, size_t run) {
  const std::string& cell = row.cells[run];
  if (cell.empty()) return "-";
  if (!row.is_score || cell.find('.') == cell.npos) return cell;
  const Json value = Json::parse(cell, row.name);
  return value.is_number() ? fmt::format("{:.5g}", value.number()) : cell;
}

std::string as_table(const std::vector<std::string>& names, const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines{{""}};
  lines[0].insert(lines[0].end(), names.begin(), names.end());
  for (const Row& row : rows) {
    lines.push_back({row.name});
    for (size_t i = 0; i < names.size(); ++i) lines.back().push_back(table_cell(row, i));
  }
  for (auto& line : lines)
    for (std::string& cell : line) cell = shortened(cell, cell.size());
  std::vector<size_t> widths(names.size() + 1);
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", line[i], widths[i])
                     : fmt::format("  {:>{}}", line[i], widths[i]);
    text += '\n';
  }
  return text;
}

int CompareArguments::run() const {
  check_input(!(json && csv), "--json and --csv: choose one");
  std::vector<SavedRun> runs;
  std::vector<ConfigListing> listings;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    runs.push_back(SavedRun::open(path));
    listings.push_back(list_config(runs.back().config.experiment));
    names.push_back(runs.back().folder.path());
  }
  std::vector<Row> rows = differing_keys(listings);
  const std::vector<Row> scores = scores_of(runs);
  rows.insert(rows.end(), scores.begin(), scores.end());
  const std::string text = json  ? as_json(names, rows)
                           : csv ? as_csv(names, rows)
                                 : as_table(names, rows);
  print(text);
  return exit_done;
}

}  // namespace

const Command commands::compare = {
    .name = "compare",
    .summary = "Compare the configs and scores of runs",
    .details = "Examples:\n  heed compare runs/shallow runs/deep --csv > scores.csv",
    .arguments = make_arguments<CompareArguments>,
};

}  // namespace heed
