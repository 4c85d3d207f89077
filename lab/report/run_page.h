// The page of one run: what stands in it without scripts, and the data that scripts draw.
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"
#include "lab/measure/profile.h"
#include "lab/report/html.h"
#include "lab/report/report_data.h"

namespace heed {

// Returns the head of the page: the result in words, scores, what the run is.
std::string top_of_run(const Report& report);
std::vector<Section> sections_of_run(const Report& report);

// Returns what scripts draw:
//
//   {"curves": [chart], "statistics": [chart]  (lab/report/charts.h),
//    "checkpoints": [step], "best": step, "guess": loss, "choices": 51, "clip": norm,
//    "samples": [[split, input, output, expected]], "lengths", "attention", "confusion": {"labels",
//    "counts": [[expected, predicted, count]]}, "time": {"seconds", "kinds" (time_by_kind()),
//    "layers" and "operations": [[name, forward, backward, index of the kind or null]]}}
Json data_of_run(const Report& report);

// Returns the time of a step by kind of operation: [{"name", "forward", "backward"}] in seconds,
// which add up to the step.
Json time_by_kind(const Profile& profile);

// Pieces that the page of several runs has, too.
std::string notes_part(const std::vector<std::string>& notes);
std::string scores_of_run(const Json& result);
std::string changed_keys_of_run(const ReportedRun& run);
// Returns a table of the first, last and best value of each line of the charts.
std::string ends_of_curves(const std::vector<Json>& charts);

}  // namespace heed
