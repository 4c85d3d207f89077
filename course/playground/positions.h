// What a model knows of positions, as numbers for pictures: the vectors that it adds to tokens, the
// rotation of queries and keys, or the bias that it adds to the scores.
#pragma once

#include "apps/config/experiment.h"
#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

// [{"name", "rows", "columns", "row_names", "values"}, …], with the values row by row. Empty for a
// model without positions:
//
//   vectors    a row for each position, a column for each dimension
//   rotation   the same for a query of ones: its columns are cosines and sines
//   bias       of one head: a row for each query, a column for each key
Json position_pictures(const Experiment& experiment, const Corpus& corpus, const Model& model);

}  // namespace heed
