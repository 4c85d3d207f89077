// Predictions for examples, as text: for samples in the log, and for BLEU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/generation.h"
#include "data/corpus.h"

namespace heed {

struct Prediction {
  std::string source;     // empty for a sample without a prompt
  std::string predicted;  // greedily, or sampled if there is no expected output
  std::string expected;   // empty if there is none
  // Of targets that are numbers: for each position, or one for the whole; NaN: no target.
  std::vector<double> numbers = {}, expected_numbers = {};
};

// Predicts the first `count` examples. A model whose output is for each position predicts the
// targets there, with blanks between. For data without prompts (text, lines) a language model
// generates `count` samples instead. `positions`: see learned_positions(). `beam`: width of the
// beam search of an encoder-decoder; 1 is greedy. The ranks (core/ranks.h) share the examples, and
// all get the predictions.
std::vector<Prediction> predictions(const Model& model, const Corpus& corpus,
                                    const Dataset& dataset, int64_t count, int64_t positions,
                                    int64_t beam = 1);

// Returns ids of the output as text: tokens, or the names of classes with a space between. Leaves
// out `ignored`.
std::string output_text(const Corpus& corpus, std::span<const int32_t> ids);

// Returns the source of every example, as source_of() (data/corpus.h) defines it: as text, and its
// length.
std::vector<std::string> source_texts(const Corpus& corpus, const Dataset& dataset);
std::vector<int64_t> source_lengths(const Corpus& corpus, const Dataset& dataset);

// Returns the number of positions that the model has learned embeddings for; 0: no limit.
int64_t learned_positions(const ModelOptions& model);

// Returns the number of tokens that a language model reads at once: its learned positions, or the
// context of the text that it was trained on; 0: no limit.
int64_t context_length(const Experiment& experiment);

// Returns what a language model continues without a prompt: <bos>, else a new line, else the first
// token of the vocabulary.
Sequence default_prompt(const TextCodec& codec);

// Returns "source → predicted", followed by the expected output if the prediction is wrong.
std::string sample_text(const Prediction& sample);

}  // namespace heed
