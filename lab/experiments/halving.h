// Successive halving (Jamieson and Talwalkar 2016): all points train to the first rung, the best of
// them to the next one, and so on.
//
// Rungs are synchronous: a rung ends when all of its runs have reached it, so the result does not
// depend on the order of the runs. Nothing is stored: which points continue follows from the scores
// in metrics.jsonl each time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/config/experiment.h"

namespace heed {

// Returns this metric, or "val." and train.best_by for "". Throws InputError if runs of the
// experiment do not record it at each evaluation.
std::string metric_of(const std::string& name, const Experiment& experiment);

// Throws InputError unless the run is evaluated at each rung and ends after the last one.
void check_rungs(const std::vector<int64_t>& rungs, const Experiment& experiment);

// Returns the score of the last evaluation up to this step. None if there is none.
std::optional<double> score_at(const std::string& metrics_path, const std::string& metric,
                               int64_t step);

// Returns the indices, ascending, of the best points: a fraction `keep` of them, rounded, at least
// one. Of equal scores the first wins. A point without a score is worse than all others.
std::vector<size_t> best_points(const std::vector<std::optional<double>>& scores,
                                bool lower_is_better, double keep);

}  // namespace heed
