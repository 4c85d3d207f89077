// Curves of groups: the mean over the runs of a group at each step.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/curves.h"
#include "lab/experiments/groups.h"

namespace heed {

struct CurvePoint {
  double step = 0;
  MeanInterval mean;  // over the runs that have a value at this step
};
// Returns the mean of curves of one name at each step that one of them has, ascending; the
// geometric one of positive values on request.
std::vector<CurvePoint> mean_curve(const std::vector<const Curve*>& curves, bool geometric = false);

// Returns a score of metrics.jsonl as CSV: group, step, mean, low, high, n. Cells of an interval
// are empty for a single run. Throws InputError if no run has such a curve.
std::string curves_csv(const SeedGroups& groups, const std::string& score);

// Throws InputError for the score of a curve that these curves lack; names those that there are.
[[noreturn]] void throw_no_curve(const std::string& score, const std::vector<std::string>& names);

}  // namespace heed
