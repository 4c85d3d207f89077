// What a trained model says: answers of an encoder-decoder, continuations of a language model,
// labels of a classifier.
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
  int64_t max_length = 0;   // tokens of an answer; 0: twice the source's and ten more
  int64_t batch_size = 32;  // sources at a time
  bool cache = true;        // see nn/decoding.h
};

// The best answer to each source of a batch.
std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target, const Inputs& batch,
                                const OutputOptions& options);
// The same for sources of any number, in their order. Throws Error for an empty source.
std::vector<Hypothesis> outputs(const Seq2Seq& model, const Vocabulary& target,
                                std::span<const Sequence> sources, const OutputOptions& options);

struct ContinuationOptions {
  SamplingOptions sampling;
  int64_t count = 1;         // continuations of each prompt, drawn apart
  int64_t max_length = 500;  // tokens to add
  int64_t window = 0;        // the model reads the last so many tokens alone; 0: all
  uint64_t seed = 1;
  int64_t batch_size = 64;  // continuations written side by side
  bool cache = true;        // see nn/decoding.h
};

// What follows the prompts, none of which may be empty, without the prompts and without <eos>,
// where the vocabulary has one and the model chose it: all continuations of the first prompt, then
// of the second, … Continuation i of a prompt is drawn from a stream of its own, whatever the
// others are.
std::vector<Sequence> continuations(const LanguageModel& model, const Vocabulary& vocabulary,
                                    std::span<const Sequence> prompts,
                                    const ContinuationOptions& options);

// The likeliest class of each row of a batch, and of each source.
std::vector<int32_t> predicted_classes(const Classifier& model, const Inputs& batch);
std::vector<int32_t> predicted_classes(const Classifier& model, std::span<const Sequence> sources,
                                       int64_t batch_size = 32);

}  // namespace heed
