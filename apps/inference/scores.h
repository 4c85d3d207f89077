// The scores of a model on a split, as JSON and as a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

// A split by name. Throws InputError that lists those there are.
const Dataset& split_of(const Corpus& corpus, const std::string& split);
// The split that was asked for; where none was, "test", or "val" where there is no test.
std::string split_or_default(const Corpus& corpus, const std::string& wanted);

// loss, perplexity, token_accuracy, exact_match, examples, targets; for pairs bleu too, of greedy
// answers. Throws InputError if the corpus has no such split.
Json split_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split);
// Without BLEU, which has to generate: what an evaluation during training looks at.
Json quick_scores(const Model& model, const Corpus& corpus, const Experiment& experiment,
                  const std::string& split);

// The splits that are measured when a run is over: all but "train".
std::vector<std::string> measured_splits(const Corpus& corpus);

// Whether examples have a right answer as a whole, so that exact match says something; a text that
// goes on has none.
bool has_exact_match(const Experiment& experiment);

// One row a split, one column a score; without exact match where there are no answers.
std::string scores_table(const std::vector<std::pair<std::string, Json>>& splits, bool answers);

}  // namespace heed
