// The scores of a model on a split, as JSON and as a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

// Returns a split by name. Throws InputError, with the names of all splits, if there is none.
const Dataset& split_of(const Corpus& corpus, const std::string& split);
// Returns `split`, or if it is empty "test", or "val" if there is no "test".
std::string split_or_default(const Corpus& corpus, const std::string& split);

// Returns loss, perplexity, token_accuracy, exact_match, examples and targets; for pairs also the
// bleu of greedy outputs. Throws InputError if the corpus has no such split, and Error if a score
// is infinite or NaN.
Json split_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split);
// The same without BLEU, which requires generation: for evaluation during training.
Json quick_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split);

// Returns the splits that are evaluated at the end of a run: all but "train".
std::vector<std::string> measured_splits(const Corpus& corpus);

// Returns a table with a row for each split and a column for each score, for print_escaped().
std::string scores_table(const std::vector<std::pair<std::string, Json>>& splits,
                         bool with_exact_match);

}  // namespace heed
