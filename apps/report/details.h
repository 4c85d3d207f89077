// What a report shows of one run with its model and data: samples, errors, attention, time.
#pragma once

#include "apps/support/json.h"
#include "apps/training/saved_run.h"

namespace heed {

// Returns {"notes": […]} and those of these members that the run has:
//
//   "step", "split"   of the checkpoint and the examples
//   "data": ["…"]     what was read
//   "model": "…"      its layers, parameters and costs, as `heed summary` prints them
//   "samples": [{"source", "predicted": [["text", wrong], …], "expected": [["text", missing], …]}]
//   "confusion": {"labels": ["a", …], "counts": [[expected, predicted, count], …]}
//   "lengths": apps/report/charts.h
//   "attention": apps/report/attention_atlas.h
//   "profile": {"step_ms", "layers": [["name", forward ms, backward ms], …],
//               "operations": [["forward add", ms], …]}
//
// A part that fails is left out, with a sentence in "notes".
Json details_of(const SavedRun& run, bool profile);

}  // namespace heed
