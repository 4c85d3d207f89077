// What a corpus holds, as text: for `heed data` and the start of a run.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"

namespace heed {

// Returns lines on the sizes of the splits, the vocabulary, the fraction of unknown tokens, the
// labels and the lengths in training, and three training examples as tokens. Of a large split every
// n-th example is read, up to 20,000.
std::vector<std::string> data_report(const Corpus& corpus);

}  // namespace heed
