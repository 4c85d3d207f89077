// vocabulary.json: what a run's model reads and writes, so that it can be used without its data.
//
//   {"level": "character", "symbols": ["a", "b", …, "<eos>"]}          one vocabulary
//   {"source": {"level": …, "symbols": …}, "target": {…}}              two (pairs)
//   {"level": …, "symbols": …, "labels": ["ham", "spam"]}              a classifier
//   {"level": …, "symbols": …, "prompt": 6, "answer": 6}               a task without <eos>
#pragma once

#include <string>

#include "data/corpus.h"

namespace heed {

std::string vocabulary_text(const Corpus& corpus);

struct SavedVocabulary {
  Corpus corpus;  // without splits
  // Of a language model of a task whose sequences all have one length: how many symbols a problem
  // has, and its answer. 0 for all others.
  int64_t prompt_length = 0, target_length = 0;
};

// Throws InputError naming the file and what is wrong with it.
SavedVocabulary read_vocabulary(const std::string& path, Framing framing);

}  // namespace heed
