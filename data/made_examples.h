// Examples that heed makes itself, such as random tokens, in the form of those of a corpus.
#pragma once

#include <vector>

#include "data/batch.h"
#include "data/corpus.h"
#include "data/tasks/sequence_task.h"

namespace heed {

// Returns examples with these contents, laid out as those of the corpus are: the same special
// tokens at the same positions, and the same targets. A text or a line is a target without a
// source; a text has one token more than its window, the target of the last input. The target of a
// classifier is one label. Throws Error for a corpus whose positions hold features only.
Dataset made_examples(const Corpus& corpus, std::vector<SequencePair> contents);
// Returns them as one batch.
Batch made_batch(const Corpus& corpus, std::vector<SequencePair> contents);

}  // namespace heed
