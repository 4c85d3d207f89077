// The page of one run: the facts that lab/report/page/run_sections.js words and
// lab/report/page/run.js draws.
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/report/report_data.h"

namespace heed {

// clang-format off
// Returns what a page of one run, and one of several, says of each:
//
//   {"name", "state", "step": the last one, "steps": of its config, "left": seconds, or no member,
//    "scores": [{"split", "examples", "interval": [low, high] of the exact match, or null,
//                "scores": [{"name", "value", "fraction": bool}, …]}, …],
//    "changed": [[key, value, default, set in], …], "notes": [sentence, …]}
// clang-format on
Json run_json(const ReportedRun& run);

// clang-format off
// Returns
//
//   {"page": "run", "run": run_json(), "task", "started", "loss": of the last step,
//    "best_by": title of the score, "trained": {"steps", "seconds", "best_step", "parameters", "tokens_per_s"},
//    "model": [[key, value, default, or "" if that is the value], …], "machine", "record": [[label, value], …],
//    "commands": {"trained", "again", "use"}, "keys": config.toml, "layers": `heed summary`,
//    "curves", "statistics": [chart] (lab/report/charts.h), "checkpoints": [step], "best": step,
//    "clip": norm, "guess": loss, "choices": 51, "step": of the checkpoint, "split": of the errors,
//    "data": [what was read], "details": [note],
//    "samples", "lengths", "attention", "errors", "confusion": lab/report/details.h,
//    "time": {"seconds", "layers" and "operations": [[name, forward, backward]]}}
// clang-format on
//
// What is unknown has no member.
Json run_page_data(const Report& report);

// Returns what a page says of a run without scripts: its state, and its scores by split.
std::vector<Table::Row> facts_of_run(const ReportedRun& run);

}  // namespace heed
