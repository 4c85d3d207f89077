// What a report shows of runs that differ in some keys: groups over seeds, the effect of each key.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiments/curves.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/groups.h"
#include "lab/report/charts.h"

namespace heed {

struct SweepScores {
  SeedGroups groups;
  std::string chosen_by;  // chooses the best group: "val.loss"
  // Of validation and test, the one whose effects are shown first. Counts are no scores.
  std::vector<std::string> names;
  bool by_ratio = false;                // whether the first one has a logarithmic axis
  std::vector<size_t> best_first = {};  // indices of groups by the mean of it; those without last
  Effects effects = {};  // on the first one; with interactions if two keys vary independently

  const std::string& score() const { return names[0]; }
};
// `score`: whose effects are shown; "": the deciding one. `columns`: the other names; empty: all.
SweepScores sweep_scores(const std::vector<ScoredRun>& runs, const std::string& score = "",
                         const std::vector<std::string>& columns = {});

// Returns what tables and drawings call keys: the last component, "heads" of "model.heads", where
// no other one has it. "kind" says nothing: "model.positional.kind" is "positions", and "data.kind"
// is "data".
std::vector<std::string> key_names(const std::vector<std::string>& keys);
// Returns what they call a group: "lr=0.001, layers=2"; "mean" for the only one.
std::string name_of_group(const SeedGroups& groups, size_t index);

// Returns the mean of a score on the scale on which it is drawn: the geometric one of positive
// losses and others that are compared by ratio, that of SeedGroups::mean() of the rest. All groups
// have one scale and one kind of interval.
std::optional<MeanInterval> drawn_mean(const SeedGroups& groups, size_t group,
                                       const std::string& score);

// Returns the colour and the dash of a group: by its value of the first key, and of the others.
std::pair<int64_t, int64_t> style_of_group(const SeedGroups& groups, size_t index);

// Returns a chart for each curve, with a line for each group: the mean over its runs and, from
// three runs on, its 95 % interval at the steps that all of them have. Failed runs are left out, as
// in all means. `curves` are by path of the run.
std::vector<Chart> charts_of_groups(const SeedGroups& groups,
                                    const std::vector<std::pair<std::string, Curves>>& curves);

// clang-format off
// Returns when the seeds of the groups, in this order, reached a score for the first time:
//
//   {"score", "value": the target, "lower": whether it is reached from above, "last": step of all runs,
//    "left_out": runs that failed, or train and have not reached it,
//    "groups": [{"reached", "of": runs, "median": step, or null: never, "seconds": the same, or no member,
//                "last_step", "last_seconds", "steps": [{"seed", "step": step, or null: never}]}]}
//
// clang-format on
// Throws InputError if no run has the score in its metrics.
Json arrivals_json(const SeedGroups& groups, const std::vector<size_t>& order,
                   const ScoreTarget& target);

}  // namespace heed
