// Generates sequences from a model: greedy search, beam search and sampling.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// A model as a search sees it: from all tokens so far of N hypotheses, (N, t), it computes the
// logits of their next tokens, (N, V). Row n continues row parents[n] of the previous call; at the
// first call it is row n, of example n. See nn/decoding.h.
using NextLogits = std::function<Tensor(const Ids& tokens, std::span<const int64_t> parents)>;

struct Hypothesis {
  std::vector<int32_t> tokens;  // without begin and end
  double log_probability = 0;
  double score = 0;  // the log probability with the length penalty
};

struct SearchOptions {
  int32_t begin = 0;  // the first token of every hypothesis
  int32_t end = 0;    // the last token of a complete one
  int64_t max_length = 100;
  int64_t beam = 1;  // hypotheses kept for each example; 1: greedy
  // The score is log p / ((5 + length) / 6)^a (Wu et al. 2016, equation 14), where length counts
  // the end token of a complete hypothesis; a = 0: log p.
  double length_penalty = 0;
};

// The hypothesis with the highest score for each example, complete or cut off at max_length. Of
// equal scores, the one that was completed first wins, and a complete one wins over one cut off; of
// equally probable tokens, the one with the lower id. Throws Error if logits are NaN or infinite;
// -∞ is a probability of 0.
std::vector<Hypothesis> beam_search(const NextLogits& next, int64_t examples,
                                    const SearchOptions& options);

struct SamplingOptions {
  double temperature = 1;  // divisor of the logits; 0: the most probable token
  int64_t top_k = 0;       // sample from the k most probable tokens; 0: from all
  double top_p = 1;        // nucleus sampling: from the smallest set of tokens whose total
                           // probability is at least p (Holtzman et al. 2020)
};

// Samples one token from logits (V); `uniform` in [0, 1) is the random number. Of equally probable
// tokens, the one with the lower id comes first. Throws Error as beam_search() does.
int32_t sample(std::span<const real> logits, const SamplingOptions& options, double uniform);

}  // namespace heed::inline HEED_REAL
