// Loads the data of a config, with the vocabulary that they are to be read with.
#pragma once

#include "apps/config/load_config.h"
#include "data/corpus.h"

namespace heed {

// Returns the data of the experiment. Files of text are read with the first of these vocabularies
// that there is:
// - that of the run itself, if it is trained already
// - that of data.vocabulary
// - that of the run that train.load names, unless train.load_names leaves out its embeddings
// - one chosen from the training data
// Throws InputError, also for a file that does not exist.
Corpus load_data(const LoadedConfig& config);

}  // namespace heed
