// Generation with a trained model: outputs of an encoder-decoder, continuations by a language
// model, labels by a classifier.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/inference/padded.h"
#include "data/vocabulary.h"
#include "nn/decoding.h"
#include "nn/models.h"
#include "nn/search.h"

namespace heed {

struct OutputOptions {
  int64_t beam = 1;
  double length_penalty = 0;
  int64_t n_best = 1;       // outputs for each source, at most `beam`
  TokenRules rules = {};    // see nn/search.h
  int64_t max_length = 0;   // tokens of an output; 0: max_output_length() of its source
  int64_t positions = 0;    // see max_output_length()
  int64_t batch_size = 32;  // sources in a batch
  bool cache = true;        // see nn/decoding.h
};

// Returns the maximum number of tokens to generate for sources up to this length: twice the length
// plus 10, but at most `positions` unless that is 0.
int64_t max_output_length(int64_t source_length, int64_t positions);

// Returns the best output for each source of a batch.
std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const OutputOptions& options);
// Returns the n_best outputs, best first, for each of any number of sources. Throws Error for an
// empty source.
std::vector<std::vector<Hypothesis>> n_best_outputs(const Seq2Seq& model, const Vocabulary& target,
                                                    std::span<const Sequence> sources,
                                                    const OutputOptions& options);

struct ContinuationOptions {
  SamplingOptions sampling;
  int64_t beam = 0;  // of a search for the best continuations; 0: samples
  double length_penalty = 0;
  TokenRules rules = {};     // see nn/search.h
  int64_t count = 1;         // continuations of each prompt: independent samples, or the best
  int64_t max_length = 500;  // tokens to generate
  int64_t window = 0;        // the model reads only the last `window` tokens; 0: all
  uint64_t seed = 1;
  int64_t batch_size = 64;  // continuations in a batch
  bool cache = true;        // see nn/decoding.h
};

// Samples continuations of each prompt, without the prompt and without <eos>. Continuation i of a
// prompt has its own random stream, so it does not depend on the other continuations. It ends early
// where the rules allow no further token. Log probabilities are those of the model, at temperature
// 1. Throws Error for an empty prompt.
std::vector<std::vector<Hypothesis>> scored_continuations(const LanguageModel& model,
                                                          const Vocabulary& vocabulary,
                                                          std::span<const Sequence> prompts,
                                                          const ContinuationOptions& options);
// Finds the best continuations of each prompt by beam search, best first: `count`, or fewer if the
// beam meets fewer.
std::vector<std::vector<Hypothesis>> best_continuations(const LanguageModel& model,
                                                        const Vocabulary& vocabulary,
                                                        std::span<const Sequence> prompts,
                                                        const ContinuationOptions& options);
// Samples without log probabilities: all continuations of the first prompt, then of the second, …
std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    std::span<const Sequence> prompts,
                                    const ContinuationOptions& options);

// Returns the most likely class of each row of a batch.
std::vector<int32_t> predicted_classes(const Classifier& model, const Inputs& batch);

struct ClassProbability {
  int32_t label = 0;
  double probability = 0;
};
// Returns all classes for each source, most likely first; of equal logits the lower label.
std::vector<std::vector<ClassProbability>> class_probabilities(const Classifier& model,
                                                               std::span<const Sequence> sources,
                                                               int64_t batch_size = 32);

}  // namespace heed
