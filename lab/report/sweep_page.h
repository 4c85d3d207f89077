// The page of several runs: the facts that lab/report/page/sweep_sections.js words and
// lab/report/page/sweep.js draws.
#pragma once

#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/report/report_data.h"

namespace heed {

// clang-format off
// Returns
//
//   {"page": "runs", "planned": number of runs, "left": seconds, or no member,
//    "runs": [run_json() (lab/report/run_page.h) with "value": of the score, and "seconds"],
//    "score": "val.loss", "lower": whether a lower one is better, "curves": [chart] (lab/report/charts.h),
//    "plan": {"question", "folder", "command": that continues it}, of runs of one sweep,
//    "table": [[cell]], of runs that are not grouped}
//
// and of groups what add_groups() sets and
//
//    "chosen_by", "chosen_lower", "interval": title of its column,
//    "repeats_over_seeds", "best": name, "left_out": [[name, seeds]], "repeats": [path], "failures": [sentence],
//    "warnings": [sentence], "more": {"seeds", "runs", "command"}: enough to tell,
//    "target": arrivals_json() (lab/report/sweep_data.h)}
// clang-format on
Json sweep_page_data(const Report& report);

// clang-format off
// Sets
//
//    "score", "lower": whether a lower one is better, "fraction", "log",
//    "keys": [{"key", "name": key_names(), "values": sorted}], "columns": [{"name", "fraction"}]: other scores,
//    "groups": [{"name", "values": [value of each key], "colour", "dash", "count": of seeds, "n", "mean", "low", "high",
//                "seeds": [{"seed", "value"}], "others": [mean of each column or null]}], best first,
//    "differences": {"log", "none", "points", "lower", "shown": whether they have a section,
//                    "tables": [{"of": "keys", "interaction" or "groups", "first": group, "rows":
//                      [{"keys": their names, "values", "instead": of these values, "name": of a group,
//                        "pairs", "size", "low", "high", "p", "flipped_p", "verdict" and "text"
//                        (lab/experiments/verdict.h)}]}]}
// clang-format on
void add_groups(const SweepScores& sweep, Json& data);

// Returns what a page says of runs without scripts: the mean score of each group, or that of each
// run.
std::vector<Table::Row> facts_of_runs(const Report& report);

}  // namespace heed
