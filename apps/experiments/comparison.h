// What `heed compare` prints, also at the end of a sweep: a table of single runs, or, where runs
// repeat over seeds, a row of statistics for each group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/experiments/groups.h"

namespace heed {

enum class TableFormat { text, csv, json, markdown };

struct ComparisonOptions {
  std::optional<ScoreTarget> target = {};
  std::string score = "";  // whose differences are tested; "": val.<train.best_by> of the first run
  TableFormat format = TableFormat::text;
};

// Throws InputError if no run has the requested score or that of the target.
std::string comparison_of(std::vector<ScoredRun> runs, const ComparisonOptions& options);

// Returns "1.234 ± 0.012": two significant digits of the half width, and as many decimals of the
// mean. Without a finite, positive half width the mean has five significant digits.
std::string mean_text(const MeanInterval& mean);

}  // namespace heed
