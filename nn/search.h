// Generates sequences from a model: greedy search, beam search and sampling.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// A model as a search sees it: from all tokens so far of N hypotheses, (N, t), it computes the
// logits of their next tokens, (N, vocab). Row n continues row parents[n] of the previous call; at
// the first call it is row n, of example n. See nn/decoding.h.
using NextLogits = std::function<Tensor(const Ids& tokens, std::span<const int64_t> parents)>;

// A sequence that a search has found.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without prompt and end
  // Of each token, and then of the end token if the hypothesis is complete.
  std::vector<double> token_log_probabilities;
  double log_probability = 0;  // their sum
  double score = 0;            // the log probability with the length penalty
};

// Tokens that may not be generated. Sequences of tokens include the prompt. Log probabilities stay
// those of the model: the probability of excluded tokens is not distributed over the others.
struct TokenRules {
  std::vector<int32_t> forbidden = {};  // ids
  // n: no sequence of n tokens may occur twice; 0: no limit. As in Paulus et al. 2018, section 2.5.
  int64_t no_repeat_ngram = 0;

  // Returns whether all tokens may be generated.
  bool empty() const { return forbidden.empty() && no_repeat_ngram == 0; }
  // Returns for each id of a vocabulary of this size whether it may follow `tokens`.
  std::vector<bool> allowed(std::span<const int32_t> tokens, int64_t vocabulary) const;
};

// Options of beam_search() and n_best_search(). The defaults: greedy search.
struct SearchOptions {
  std::vector<int32_t> prompt = {};  // the first tokens of every hypothesis: at least one
  int32_t end = 0;                   // the last token of a complete one; negative: none ends
  int64_t max_length = 100;          // generated tokens of a hypothesis, at most
  int64_t beam = 1;                  // hypotheses kept for each example; 1: greedy
  // The score is log p / ((5 + length) / 6)^a (Wu et al. 2016, equation 14), where length counts
  // the end token of a complete hypothesis; a = 0: log p.
  double length_penalty = 0;
  int64_t n_best = 1;                     // hypotheses to return for each example, at most `beam`
  TokenRules rules = {};                  // tokens that may not be generated
  std::vector<int64_t> max_lengths = {};  // of each example, instead of max_length
};

// The n_best hypotheses with the highest scores for each example, best first, complete or cut off:
// at max_length, or where the rules allow no further token. There are fewer if the beam meets
// fewer. Of equal scores, the one that was completed first wins, and a complete one wins over one
// cut off; of equally probable tokens, the one with the lower id. Throws Error if logits are NaN or
// infinite; -∞ is a probability of 0.
std::vector<std::vector<Hypothesis>> n_best_search(const NextLogits& next, int64_t examples,
                                                   const SearchOptions& options);
// The best hypothesis for each example.
std::vector<Hypothesis> beam_search(const NextLogits& next, int64_t examples,
                                    const SearchOptions& options);

// Options of sample(). The defaults: the distribution of the model.
struct SamplingOptions {
  double temperature = 1;  // divisor of the logits; 0: the most probable token
  int64_t top_k = 0;       // sample from the k most probable tokens; 0: from all
  double top_p = 1;        // nucleus sampling: from the smallest set of tokens whose total
                           // probability is at least p (Holtzman et al. 2020)
};

// Samples one token from logits (vocab); `uniform` in [0, 1) is the random number. Of equally
// probable tokens, the one with the lower id comes first. Throws Error as beam_search() does.
int32_t sample(std::span<const real> logits, const SamplingOptions& options, double uniform);

// Returns ln Σ exp(logits) for logits (vocab), of which `maximum` is the largest.
double log_sum_exp(std::span<const real> logits, double maximum);
// Returns log softmax(logits)[token] for logits (vocab). Throws Error as beam_search() does.
double log_probability(std::span<const real> logits, int32_t token);

}  // namespace heed::inline HEED_REAL
