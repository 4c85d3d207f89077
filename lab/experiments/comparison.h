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

enum class TableFormat { text, csv, json, markdown, latex };

struct ComparisonOptions {
  std::optional<ScoreTarget> target = {};
  // Score that is compared. "": val.<train.best_by> of the first run, or if `columns` lack it the
  // first of them.
  std::string score = "";
  TableFormat format = TableFormat::text;
  // Scores to show; empty: those of the validation split for groups, else all; those of parts of
  // the model (is_of_part()) only in CSV and JSON.
  std::vector<std::string> columns = {};
  EffectQuestion question = {};
  bool by_run = false;  // never group runs
  // CSV with a row for each group and score: group, score, kind, n, mean, low, high.
  bool long_rows = false;
  size_t width = 0;  // of text, beyond which numbers stand for the names of runs; 0: no limit
};

// Returns a table in a format other than JSON.
std::string formatted(const Table& table, size_t left, TableFormat format);

// Throws InputError if no run has a requested score or that of the target, if a question cannot be
// answered, or if every run failed and they are not listed by run.
std::string comparison_of(std::vector<ScoredRun> runs, const ComparisonOptions& options);

}  // namespace heed
