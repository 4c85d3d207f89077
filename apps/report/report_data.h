// What a report shows, as one JSON document: the only input of the page.
//
//   {"title": "runs/sort", "version": "0.2.0",
//    "runs": [{"name", "state", "facts": [["steps", "1500"], …], "notes": ["…"],
//              "command": "heed train …", "settings": [{"key", "value", "default", "set_in"}],
//              "config": "…", "result": {…}}, …],
//    "charts": [apps/report/charts.h …],
//    "statistics": [apps/report/charts.h …],
//    "details": apps/report/details.h, "sweep": apps/report/sweep_data.h}
//
// A single run has "statistics" and "details", several have "sweep".
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"

namespace heed {

struct ReportRequest {
  std::vector<std::string> paths;  // folders of runs, or of sweeps
  bool details = true;             // of a single run: what needs its model and data
  bool profile = true;
};

// Reads the runs. Throws InputError if a folder is no run, or its config cannot be read. What else
// is missing or damaged is left out; a sentence in "notes" says so.
Json report_data(const ReportRequest& request);

}  // namespace heed
