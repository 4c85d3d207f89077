// What a report shows of runs that differ in some keys: groups over seeds, the effect of each key.
#pragma once

#include <string>
#include <vector>

#include "apps/experiments/groups.h"
#include "apps/report/charts.h"
#include "apps/report/curves.h"
#include "apps/support/json.h"

namespace heed {

// Returns, for more than one run,
//
//   {"score": "val.loss", "lower_is_better": true, "keys": ["optim.lr"], "scores": ["val.loss", …],
//    "groups": [{"values": ["0.001"], "runs": 6, "means": ["1.23 ± 0.01", …], "best": true}, …],
//    "comparisons": [["0.002", "6", "0.02", "0.01 … 0.03", "0.031", "0.062"], …],
//    "points": [{"values": ["0.001"], "score": 1.24}, …],
//    "left_out": ["runs/copy", …]}
//
// where comparisons are with the first group: key values, seeds, difference, interval, p, Holm's p;
// points are the runs that have the score.
Json sweep_json(const RunGroups& groups, const std::vector<ScoredRun>& runs);

// Returns a chart for each curve, with a line for each group: the mean over its runs and, from
// three runs on, its 95 % interval at the steps that all of them have. `curves` are by path of the
// run.
std::vector<Chart> charts_of_groups(const RunGroups& groups,
                                    const std::vector<std::pair<std::string, Curves>>& curves);

}  // namespace heed
