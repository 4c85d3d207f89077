// What `heed compare` prints of groups of runs that differ only in the seed.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/comparison.h"

namespace heed {

// Returns the tables of groups and of effects, with what to know about them, in the format of the
// options. `score` is compared, `chosen_by` chooses the best group, `scores` are shown.
std::string comparison_of_groups(const SeedGroups& groups, const ComparisonOptions& options,
                                 const std::string& score, const std::string& chosen_by,
                                 const std::vector<std::string>& scores);

}  // namespace heed
