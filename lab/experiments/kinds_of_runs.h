// heed compare --by: the scores of kinds of examples, of every run.
#pragma once

#include <string>
#include <vector>

#include "lab/experiments/groups.h"

namespace heed {

// Evaluates the best checkpoint of every run that is done on a split of its data ("": test, or val
// if there is no test). Adds the exact match of each kind of examples to its scores, as
// "test[12].exact_match", and their number, as "test[12].examples". Returns the names of the exact
// matches. `by`: see Kinds (apps/inference/kinds.h). Throws InputError if a run has no exact match,
// or if its data are missing or have changed.
std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const std::string& by,
                                         const std::string& split);

}  // namespace heed
