// What a report shows of runs that differ in some keys: groups over seeds, the effect of each key.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/curves.h"
#include "lab/experiments/groups.h"
#include "lab/report/charts.h"

namespace heed {

struct SweepScores {
  RunGroups groups;
  std::string chosen_by;  // chooses the best group: "val.loss"
  // Of validation and test, the one whose effects are shown first. Counts are no scores.
  std::vector<std::string> names;
};
// `score`: whose effects are shown; "": the deciding one. `columns`: the other names; empty: all.
SweepScores sweep_scores(const std::vector<ScoredRun>& runs, const std::string& score = "",
                         const std::vector<std::string>& columns = {});

// Returns "lr=0.001, layers=2", "mean" for the only group.
std::string name_of_group(const RunGroups& groups, size_t index);

// Returns a chart for each curve, with a line for each group: the mean over its runs and, from
// three runs on, its 95 % interval at the steps that all of them have. `curves` are by path of the
// run.
std::vector<Chart> charts_of_groups(const RunGroups& groups,
                                    const std::vector<std::pair<std::string, Curves>>& curves);

}  // namespace heed
