// Tables of single runs: a column for each run, or a row.
#pragma once

#include "lab/experiments/comparison.h"

namespace heed {

// Returns a table with a column for each run: the keys in which they differ, and these scores. In
// text that is wider than options.width a number stands for the name of each run, and notes list
// them. So do the rows of the next table.
Table columns_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                      const ComparisonOptions& options);
// Returns a table with a row for each run: its keys, seed, state and these scores.
Table rows_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                   const ComparisonOptions& options);
// Returns [{"run", "seed", "state", "error", "config", "scores", "target"}, …].
Json json_of_runs(const std::vector<ScoredRun>& runs, const std::vector<std::string>& scores,
                  const ComparisonOptions& options);

}  // namespace heed
