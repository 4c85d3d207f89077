// From a model to sequences: greedy and beam search, and sampling.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// The model, as a search sees it: all tokens so far of N hypotheses, (N, t), give logits for their
// next token, (N, V). Row n goes on from row parents[n] of the call before; at the first call it is
// row n, of example n. nn/decoding.h makes one of a model.
using NextLogits = std::function<Tensor(const Ids& tokens, std::span<const int64_t> parents)>;

struct Hypothesis {
  std::vector<int32_t> tokens;  // without the first and without the end
  double log_probability = 0;
  double score = 0;  // what the search ranks by
};

struct SearchOptions {
  int32_t begin = 0;  // every hypothesis starts with it
  int32_t end = 0;    // and is complete with it
  int64_t max_length = 100;
  int64_t beam = 1;  // 1: greedy
  // Rank by log p / ((5 + length) / 6)^a (Wu et al. 2016, equation 14); 0: by log p.
  double length_penalty = 0;
};

// The best hypothesis for each example.
std::vector<Hypothesis> beam_search(const NextLogits& next, int64_t examples,
                                    const SearchOptions& options);

struct SamplingOptions {
  double temperature = 1;  // logits are divided by it; 0: the likeliest token
  int64_t top_k = 0;       // draw from the k likeliest; 0: from all
  double top_p = 1;        // draw from the fewest tokens that have this probability together
                           // (Holtzman et al. 2020)
};

// Draws one token from logits; `uniform` in [0, 1) decides.
int32_t sample(std::span<const real> logits, const SamplingOptions& options, double uniform);

}  // namespace heed::inline HEED_REAL
