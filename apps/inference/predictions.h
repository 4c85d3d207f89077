// What a model makes of examples, as text: for samples in the log, and for BLEU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/inference/generation.h"
#include "data/corpus.h"

namespace heed {

struct Prediction {
  std::string source;     // what was read; empty where there is nothing to read
  std::string predicted;  // greedily; where there is no one answer, drawn at random
  std::string expected;   // empty where there is no one answer
};

// Of the first `count` examples. A language model whose data has no prompts (text, lines) writes as
// many samples of its own. `positions`: see learned_positions().
std::vector<Prediction> predictions(const Model& model, const Corpus& corpus,
                                    const Dataset& dataset, int64_t count, int64_t positions);

// How many symbols the model has a learned position for; 0: there is no end to them.
int64_t learned_positions(const ModelOptions& model);
// Symbols after which an answer is cut: twice the longest source and ten more, if positions reach.
int64_t max_output_length(std::span<const Sequence> sources, int64_t positions);

// What a language model starts from when it is given nothing: <bos>, or else a new line, or else
// the first symbol.
Sequence default_prompt(const TextCodec& codec);

// Source, arrow, prediction, and what would have been right where it is wrong.
std::string sample_text(const Prediction& sample);

}  // namespace heed
