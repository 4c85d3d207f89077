// The scores of a model on a split of its data. heed evaluate, metrics.jsonl, train.best_by,
// sweeps, comparisons and reports all ask an entry of this registry: a new score needs nothing
// else.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"

namespace heed {

struct Experiment;

// What scores are computed from.
struct Measured {
  double loss = 0;  // mean over targets of -log p(target), in nats; without label smoothing
  double token_accuracy = 0;  // fraction of targets that are the most likely token
  // Fraction of examples whose targets all are the most likely token. This equals the exact match
  // of greedy search, because greedy search generates the targets if and only if each target is the
  // most likely token after the targets before it.
  double exact_match = 0;
  int64_t examples = 0, targets = 0;
  int64_t target_bytes = 0;  // length of the text that the targets stand for; 0: of no text
  // Of each example, for scores that read outputs: what the model generates, and what is expected.
  std::vector<std::string> outputs = {}, references = {};
};

struct Score {
  const char *name, *title;  // "token_accuracy", "token accuracy"
  const char* unit = "";     // of its axis in a drawing
  bool lower_is_better = false;
  // The largest possible value; then the smallest is 0. Of 1: a fraction, shown in percent. Values
  // without a limit are compared by their ratio: equal factors are equal gains.
  double maximum = std::numeric_limits<double>::infinity();
  int decimals = -1;           // in a table; -1: four significant digits
  bool reads_outputs = false;  // generated ones: slow, so only where they are asked for
  std::optional<double> (*value)(const Measured&);  // none: this split has no such score
  // Returns whether runs of this experiment have it.
  bool (*offered)(const Experiment&);
};

// Tables and files have this order.
#define HEED_SCORES(entry)                                                                    \
  entry(loss) entry(perplexity) entry(bits_per_byte) entry(token_accuracy) entry(exact_match) \
      entry(bleu) entry(chrf)
HEED_REGISTRY(scores, Score, HEED_SCORES)

// Returns whether exact match is meaningful: examples have a complete target, unlike continuous
// text.
bool has_exact_match(const Experiment& experiment);

}  // namespace heed
