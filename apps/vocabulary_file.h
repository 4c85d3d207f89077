// vocabulary.json: what a run's model reads and writes, so that it can be used without its data.
//
//   {"level": "character", "symbols": ["a", "b", …, "<eos>"]}          one vocabulary
//   {"source": {"level": …, "symbols": …}, "target": {…}}              two (pairs)
//   {"level": …, "symbols": …, "labels": ["ham", "spam"]}              a classifier
#pragma once

#include <string>

#include "data/corpus.h"

namespace heed {

std::string vocabulary_text(const Corpus& corpus);

// A corpus without splits. Throws InputError naming the file and what is wrong with it.
Corpus read_vocabulary(const std::string& path, Framing framing);

}  // namespace heed
