// The scores of a model: their names, directions and ranges. Those in the registry are of a split
// of its data. heed evaluate, metrics.jsonl, train.best_by, sweeps, comparisons and reports all ask
// an entry: a new score needs nothing else. apps/inference/score.cpp defines the entries.
#pragma once

#include <limits>
#include <optional>

#include "core/registry.h"

namespace heed {

struct Experiment;
struct Measured;  // what scores are computed from: apps/inference/evaluation.h

struct Score {
  const char* name;        // "token_accuracy"
  const char* title = "";  // "token accuracy"
  const char* unit = "";   // of its axis in a drawing
  bool lower_is_better = false;
  // The largest possible value; then the smallest is 0. Of 1: a fraction, shown in percent.
  double maximum = std::numeric_limits<double>::infinity();
  bool by_ratio = false;       // values are compared by their ratio: equal factors are equal gains
  int decimals = -1;           // in a table; -1: four significant digits
  bool reads_outputs = false;  // generated ones: slow, so only where they are asked for
  bool of_numbers = false;     // targets that are numbers have it
  bool of_tokens = true;       // targets that are tokens or labels have it
  std::optional<double> (*value)(const Measured&) = nullptr;  // none: this split has no such score
  // Returns whether runs of this experiment have it.
  bool (*offered)(const Experiment&) = nullptr;
};

// Tables and files have this order.
#define HEED_SCORES(entry)                                                                    \
  entry(loss) entry(perplexity) entry(bits_per_byte) entry(token_accuracy) entry(exact_match) \
      entry(bleu) entry(chrf) entry(r2) entry(loss_above_best) entry(divergence)
HEED_REGISTRY(scores, Score, HEED_SCORES)

// Returns whether exact match is meaningful: examples have a complete target, unlike continuous
// text.
bool has_exact_match(const Experiment& experiment);

}  // namespace heed
