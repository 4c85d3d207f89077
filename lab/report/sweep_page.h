// The page of several runs: what stands in it without scripts, and the data that scripts draw.
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"
#include "lab/report/html.h"
#include "lab/report/report_data.h"

namespace heed {

// Returns the state of all runs, "22 of 24 runs done, 1 running, 1 failed", as HTML.
std::string heading_of_runs(const Report& report);

// Returns the head of the page: the question, and what the seeds answer.
std::string top_of_runs(const Report& report);
std::vector<Section> sections_of_runs(const Report& report);

// Returns what scripts draw. Without groups only the curves:
//
//   {"curves": [chart] (lab/report/charts.h), "target" (lab/report/arrivals.h), "score":
//    "val.loss", "log", "fraction",
//    "keys": [{"key", "values": sorted, "size": of two values, as in the differences}],
//    "groups": [{"name", "values": [value of each key], "colour", "dash", "mean", "low", "high",
//                "seeds": [{"seed", "value"}]}],
//    "differences": {"log", "none", "rows": [{"name", "size", "low", "high"}]},
//    "interaction": [key, key], where the effects of one over the values of the other are compared}
//
// Groups are in the order of the rows of the table, differences in that of theirs.
Json data_of_runs(const Report& report);

}  // namespace heed
