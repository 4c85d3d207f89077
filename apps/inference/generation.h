// Generation with a trained model: outputs of an encoder-decoder, continuations by a language
// model, labels by a classifier.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "nn/decoding.h"
#include "nn/models.h"
#include "nn/search.h"

namespace heed {

using Sequence = std::vector<int32_t>;

struct OutputOptions {
  int64_t beam = 1;
  double length_penalty = 0;
  int64_t max_length = 0;   // tokens of an output; 0: twice the source length plus 10
  int64_t batch_size = 32;  // sources in a batch
  bool cache = true;        // see nn/decoding.h
};

// Returns the best output for each source of a batch.
std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const OutputOptions& options);
// The same for any number of sources. Throws Error for an empty source.
std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target,
                                std::span<const Sequence> sources, const OutputOptions& options);

struct ContinuationOptions {
  SamplingOptions sampling;
  int64_t count = 1;         // independent samples for each prompt
  int64_t max_length = 500;  // tokens to generate
  int64_t window = 0;        // the model reads only the last `window` tokens; 0: all
  uint64_t seed = 1;
  int64_t batch_size = 64;  // continuations in a batch
  bool cache = true;        // see nn/decoding.h
};

// Generates continuations of the prompts, without the prompts and without <eos>: all continuations
// of the first prompt, then of the second, … Continuation i of a prompt has its own random stream,
// so it does not depend on the other continuations. Throws Error for an empty prompt.
std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    std::span<const Sequence> prompts,
                                    const ContinuationOptions& options);

// Returns the most likely class of each row of a batch, or of each source.
std::vector<int32_t> predicted_classes(const Classifier& model, const Inputs& batch);
std::vector<int32_t> predicted_classes(const Classifier& model, std::span<const Sequence> sources,
                                       int64_t batch_size = 32);

}  // namespace heed
