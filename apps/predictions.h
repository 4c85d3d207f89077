// What a model makes of examples, as text: for samples in the log, and for BLEU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/generation.h"
#include "data/corpus.h"

namespace heed {

struct Prediction {
  std::string source;     // what was read; empty where there is nothing to read
  std::string predicted;  // greedily; where there is no one answer, drawn at random
  std::string expected;   // empty where there is no one answer
};

// Of the first `count` examples. A language model whose data has no prompts (text, lines) writes as
// many samples of its own, at most `window` symbols in view (0: all).
std::vector<Prediction> predictions(const Model& model, const Corpus& corpus,
                                    const Dataset& dataset, int64_t count, int64_t window);

// What a language model starts from when it is given nothing: <bos>, or else a new line, or else
// the first symbol.
Sequence first_prompt(const TextCodec& codec);

// One a line: source, arrow, prediction, and whether it is right.
std::string samples_text(const std::vector<Prediction>& samples);

}  // namespace heed
