// What `heed compare` prints, also at the end of a sweep: a table of single runs, or, where runs
// repeat over seeds, a row of statistics for each group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/table.h"
#include "lab/experiments/effects.h"
#include "lab/experiments/groups.h"

namespace heed {

enum class TableFormat { text, csv, json, markdown };

struct ComparisonOptions {
  std::optional<ScoreTarget> target = {};
  std::string score = "";  // that is compared; "": val.<train.best_by> of the first run
  TableFormat format = TableFormat::text;
};

// Returns what a run, or the median over the runs of a group, has to say about a target: steps and
// seconds. "never" if no run reached it; "more than 1000", the largest step trained, if some did
// but the median falls on one that did not; "-" if nothing is known.
std::vector<std::string> target_cells(const std::optional<Reached>& reached);

// Returns the tables of the effects of keys, if there are any, and of groups, each with a note that
// explains it, as `heed compare` prints them and a report shows them. `left` is how many of its
// columns are words.
struct EffectTable {
  Table table;
  size_t left = 1;
};
std::vector<EffectTable> effect_tables(const Effects& effects, const RunGroups& groups);

// Throws InputError if no run has the requested score or that of the target.
std::string comparison_of(std::vector<ScoredRun> runs, const ComparisonOptions& options);

// Returns "1.234 ± 0.012": two significant digits of the half width, and as many decimals of the
// mean. Without a finite, positive half width the mean has five significant digits.
std::string mean_text(const MeanInterval& mean);

}  // namespace heed
