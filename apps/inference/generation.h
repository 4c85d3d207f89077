// Runs a trained model on sequences of tokens: outputs of an encoder-decoder, continuations by a
// language model, classes of a classifier, and log probabilities of the tokens of a text.
//
// A function that takes several sequences shares them with the other ranks (core/ranks.h). All
// ranks get the same results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/inference/padded.h"
#include "data/vocabulary.h"
#include "nn/decoding.h"
#include "nn/models.h"
#include "nn/search.h"

namespace heed {

struct GenerationOptions {
  // Width of the beam search; 1 is greedy. 0: an encoder-decoder searches greedily, a language
  // model samples.
  int64_t beam = 0;
  double length_penalty = 0;
  SamplingOptions sampling = {};
  uint64_t seed = 1;      // of samples
  bool scored = true;     // samples have log probabilities, which take a sum over the vocabulary
  TokenRules rules = {};  // see nn/search.h
  int64_t count = 1;      // results for each source or prompt: the best, or independent samples
  // Maximum number of tokens to generate. Default: max_output_length() of a source, and 500 tokens
  // after a prompt.
  std::optional<int64_t> max_length = {};
  int64_t positions = 0;   // see max_output_length()
  int64_t context = 0;     // a language model reads only the last `context` tokens; 0: all
  int64_t batch_size = 0;  // results in a batch; 0: those of 32 sources, or 64 samples
  bool cache = true;       // see nn/decoding.h
};

// Returns the maximum number of tokens to generate for sources up to this length: twice the length
// plus 10, but at most `positions` unless that is 0.
int64_t max_output_length(int64_t source_length, int64_t positions);

// Returns the outputs of an encoder-decoder for each source. Throws Error for an empty source.
Found outputs(const Model& model, const Vocabulary& target, std::span<const Sequence> sources,
              const GenerationOptions& options);
// The same for the sources of one batch, on each rank by itself.
Found outputs(const Model& model, const Vocabulary& target, const Inputs& batch,
              const GenerationOptions& options);

// Returns continuations of each prompt, without the prompt and without <eos>. With a beam they are
// the best ones, perhaps fewer than options.count. Without one they are samples. Sample i of a
// prompt has its own random stream, so it does not depend on the others. A continuation ends early
// where the rules allow no further token. Log probabilities are those of the model, at
// temperature 1. Throws Error for an empty prompt.
Found continuations(const Model& model, const Vocabulary& vocabulary,
                    std::span<const Sequence> prompts, const GenerationOptions& options);

// Returns all classes for each source, best first. A class is a hypothesis of one token, the label.
// Between equal logits the lower label comes first.
Found classes(const Model& model, std::span<const Sequence> sources, int64_t batch_size = 32);
// Returns the most likely class of each row of a batch, or of each of its positions.
std::vector<int32_t> predicted_classes(const Model& model, const Inputs& batch);

// How a language model reads a sequence that is longer than its context: in windows of `context`
// inputs, each `stride` inputs after the one before. A target is scored in the first window that
// has it. So it has at least context + 1 - stride inputs before it, or all that there are. With a
// stride of 1 it has as many as the model can read. The last window ends with the sequence.
struct Windows {
  int64_t context = 0;  // 0: no limit, one window
  int64_t stride = 0;   // 1 to `context`
};
struct Window {
  int64_t first, last;  // inputs [first, last); the target of an input is the token after it
  int64_t scored;       // the first input whose target is scored
};
// Returns the windows of a sequence with this number of targets.
std::vector<Window> windows_of(int64_t targets, const Windows& windows);

// Returns two hypotheses for each sequence: its tokens after the first, with the log probability of
// each given the tokens before it that its window has; and the most likely token at each of these
// places, with its log probability.
Found scored_tokens(const Model& model, std::span<const Sequence> sequences,
                    const Windows& windows = {});

}  // namespace heed
