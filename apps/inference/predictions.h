// Predictions for examples, as text: for samples in the log, and for BLEU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/inference/generation.h"
#include "data/corpus.h"

namespace heed {

struct Prediction {
  std::string source;     // empty for a sample without a prompt
  std::string predicted;  // greedily, or sampled if there is no expected output
  std::string expected;   // empty if there is none
};

// Predicts the first `count` examples. For data without prompts (text, lines) a language model
// generates `count` samples instead. `positions`: see learned_positions().
std::vector<Prediction> predictions(const Model& model, const Corpus& corpus,
                                    const Dataset& dataset, int64_t count, int64_t positions);

// Returns the number of positions that the model has learned embeddings for; 0: no limit.
int64_t learned_positions(const ModelOptions& model);

// Returns what a language model continues without a prompt: <bos>, else a new line, else the first
// token of the vocabulary.
Sequence default_prompt(const TextCodec& codec);

// Returns "source → predicted", followed by the expected output if the prediction is wrong.
std::string sample_text(const Prediction& sample);

}  // namespace heed
