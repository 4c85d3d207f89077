// Cells of the tables that compare runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/experiments/groups.h"

namespace heed {

// Returns five significant digits.
std::string number_text(double number);

// Returns "1.234 ± 0.012": two significant digits of the half width, and as many decimals of the
// mean. An interval that is not symmetric is "0.981 [0.952, 0.993]". Without an interval, or with
// one of width 0, the mean has five significant digits.
std::string mean_text(const MeanInterval& mean);
// Returns a score with the kind of its interval, for the head of a column: "val.loss (Student)".
std::string title_of(const std::string& score, IntervalKind kind);
// Returns a line about each of these kinds of intervals, for below a table.
std::vector<std::string> interval_notes(const std::vector<IntervalKind>& kinds);

// Returns how many runs of a group have the score: "6", "5 of 6", "4 of 6 (2 failed)".
std::string count_text(const SeedGroup& group, const std::string& score);

// Returns {"run", "seed", "state"}, and the "error" of a run that failed.
Json scored_run_json(const ScoredRun& run);

std::vector<std::string> target_headings(const ScoreTarget& target);
// Returns what a run, or the median over the runs of a group, has to say about a target: steps and
// seconds. "never" if no run reached it; "more than 1000", the largest step trained, if some did
// but the median falls on one that did not; "-" if nothing is known.
std::vector<std::string> target_cells(const std::optional<Reached>& reached);
Json target_json(const ScoreTarget& target, const std::optional<Reached>& reached);

}  // namespace heed
