// Evaluates a model on a dataset.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "data/batch.h"
#include "nn/models.h"

namespace heed {

// The result of one example.
struct Outcome {
  bool correct = true;                  // every target is predicted
  int32_t expected = 0, predicted = 0;  // of a classifier
  int64_t targets = 0;
  double loss = 0;          // sum over targets of -log p(target), in nats, or of squared errors
  int64_t first_error = 0;  // the first target that is not predicted, from 1 on; 0: none
  int64_t correct_targets = 0;
  int32_t group = -1;  // Example::group

  double mean_loss() const { return targets > 0 ? loss / static_cast<double>(targets) : 0; }
};

// What the scores of a split (apps/config/score.h) are computed from.
struct Measured {
  // Mean over targets of -log p(target), in nats; without label smoothing. Of numbers: the mean
  // squared error.
  double loss = 0;
  double variance = 0;        // of targets that are numbers
  double token_accuracy = 0;  // fraction of targets that are the most likely token
  // Fraction of examples with targets whose targets all are the most likely token. This equals the
  // exact match of greedy search, because greedy search generates the targets if and only if each
  // target is the most likely token after the targets before it.
  double exact_match = 0;
  int64_t examples = 0;  // that have a target
  int64_t targets = 0;
  // Where targets have a reference (Corpus::reference_width), their means: the loss of the best
  // possible predictor, the model's loss minus that, and the divergence KL(p‖q) of the model's
  // probabilities q from the reference p, in nats. NaN without references.
  double best_loss = NAN, loss_above_best = NAN, divergence = NAN;
  int64_t target_bytes = 0;  // length of the text that the targets stand for; 0: of no text
  // Of each example, for scores that read outputs: what the model generates, and what is expected.
  std::vector<std::string> outputs = {}, references = {};
};

// Returns the numbers of Example::reference for each target of an example.
size_t reference_width(const Example& example);

// Returns the losses of the targets of a batch, from the logits of its model: the cross entropy, or
// the squared error of numbers.
Tensor batch_loss(const Tensor& logits, const Batch& batch, Reduction reduction);

// The result of one target.
struct TargetOutcome {
  int32_t position = 0;                 // of the input that it belongs to, from 0
  int32_t expected = 0, predicted = 0;  // 0 of numbers
  double loss = 0;                      // -log p(expected), in nats, or the squared error
  double predicted_loss = 0;            // -log p(predicted); 0 of numbers
};

// What an evaluation finds out besides scores.
struct EvaluationDetails {
  std::vector<Outcome> outcomes = {};       // of each example
  std::vector<TargetOutcome> targets = {};  // of each example in turn
};

// Evaluates every example of the dataset once, without dropout. Does not change the state of
// training. The ranks (core/ranks.h) share the examples, and all get the same scores. Appends the
// details, unless they are null.
Measured evaluate(const Model& model, const Dataset& dataset, ModelKind framing, int64_t batch_size,
                  EvaluationDetails* details = nullptr);

}  // namespace heed
