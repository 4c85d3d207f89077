// The command to try after a training.
#pragma once

#include <string>

#include "apps/config/experiment.h"
#include "data/corpus.h"

namespace heed {

// Returns a command for the run in the folder `run`, on one line, ready to paste into a shell. For
// language models and encoder-decoders it generates from an input of the test split, or of another
// split if there is no test. For other models it draws the attention of an example, or prints the
// scores if the model has no attention.
std::string next_command(const std::string& run, const Experiment& experiment,
                         const Corpus& corpus);

}  // namespace heed
