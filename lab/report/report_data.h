// What a report shows: runs as their folders have them, charts of their curves, and the details of
// a single run or the statistics of several.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "apps/training/result.h"
#include "apps/training/saved_run.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/run_state.h"
#include "lab/experiments/sweep_options.h"
#include "lab/report/details.h"
#include "lab/report/kind_figure.h"
#include "lab/report/sweep_data.h"

namespace heed {

struct ReportedRun {
  SavedRun saved;
  RunState state;
  Curves curves = {};
  std::optional<TrainingResult> result = {};  // none until it has ended
  // Where and how it was trained last, [[label, value], …]. `record` has what else reproduces it.
  Json session = Json::array(), record = Json::array();
  std::string started = {};                        // "2026-11-24 08:11 UTC, heed 0.3.0"
  std::map<std::string, std::string> set_in = {};  // by key
  std::string command = {};  // that began the run: its config, and what --set changed
  std::vector<std::string> notes = {};

  const std::string& name() const { return saved.folder.path(); }
};

inline bool has_ended(const ReportedRun& run) {
  return run.state == RunState::done || run.state == RunState::failed;
}

struct Report {
  std::string title;
  std::vector<ReportedRun> runs;
  std::vector<Json> charts, statistics = {};  // lab/report/charts.h
  std::optional<Details> details = {};        // of a single run
  std::optional<SweepScores> sweep = {};      // of several
  Json target = {};                // of several, arrivals_json(), if one is asked for; else null
  std::optional<Sweep> plan = {};  // whose runs all of these are
  std::string sweep_folder = {};   // of the plan
  Table run_table = {};            // of several, if they are not grouped
};

// Returns the number of runs: of the sweep, among them those that have not begun, or of the report.
int64_t planned_runs(const Report& report);
// The same of a sweep that has begun so many runs.
int64_t planned_runs(int64_t begun, const Sweep& sweep);

// Returns how many more seconds a run trains, by its metrics; none unless it is running.
std::optional<double> seconds_left(const ReportedRun& run);
// The same of one that is running, with the last step of its config; none if its metrics do not say
// it.
std::optional<double> seconds_left(const Curves& metrics, int64_t last_step);
// Returns how many more seconds all runs train, if as many train at a time as now. Returns none if
// no run trains, or if the sweep stops runs early.
std::optional<double> seconds_left(const Report& report);

struct ReportRequest {
  std::vector<std::string> paths;  // folders of runs, or of sweeps
  bool details = true;             // of a single run: what needs its model and data
  bool profile = true;
  std::string split = "";                       // of the details; "": test, else val
  std::optional<PositionRange> positions = {};  // whose targets count in the details
  std::string score = "";                       // whose effects are shown; "": the deciding one
  std::vector<std::string> columns = {};        // scores of groups; empty: all
  std::optional<ScoreTarget> target = {};
  bool by_run = false;  // a curve and a row for each run; no groups
};

// Returns a figure of curves: a line for each score and group, or each run if they are not grouped.
// Scores with the same last word, such as train.loss and val.loss, share a panel. Throws InputError
// if no run has such a curve. With request.kinds.by: figure_of_kinds().
std::string figure_of(const FigureRequest& request);

// Reads the runs. Throws InputError if a folder is no run, its config cannot be read, or no run
// has a requested score. What else is missing or damaged is left out; a sentence in the notes says
// so.
Report report_data(const ReportRequest& request);

}  // namespace heed
