// The sections of a page that show a sweep (lab/report/sweep_data.h), as HTML.
#pragma once

#include <string>

#include "lab/report/sweep_data.h"

namespace heed {

// Tables of the groups' means and of the comparisons.
std::string groups_part(const SweepScores& sweep);
// For each key a drawing with a point for each run and the mean of each value.
std::string effects_part(const SweepScores& sweep);
// Parallel coordinates: an axis for each key and for the score, a line for each run.
std::string parallel_part(const SweepScores& sweep);

}  // namespace heed
