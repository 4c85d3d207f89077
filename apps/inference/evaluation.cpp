#include "apps/inference/evaluation.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/scope.h"

namespace heed {

Inputs inputs_of(const Batch& batch) {
  return {batch.source,   batch.source_lengths,
          batch.input,    batch.input_lengths,
          batch.features, {batch.sender, batch.receiver, batch.edge_features}};
}

namespace {

struct Correct {
  int64_t tokens = 0, examples = 0;
};

// Counts the targets that have the maximum logit of their row, and the examples whose targets all
// do. logits (B, T, V) and target (B, T), or (B, C) and (B).
Correct count_correct(const Tensor& logits, const Batch& batch, std::vector<Outcome>* outcomes,
                      TargetCounts* counts) {
  const Ids& target = batch.target;
  const Ids& lengths = batch.source_lengths ? batch.source_lengths : batch.input_lengths;
  const int64_t vocabulary = logits.dim(-1), examples = target.dim(0);
  const int64_t time = target.size() / std::max<int64_t>(1, examples);
  Correct correct;
  for (int64_t b = 0; b < examples; ++b) {
    Outcome outcome{lengths[b], true};
    for (int64_t t = b * time; t < (b + 1) * time; ++t) {
      if (target[t] == ignored) continue;
      const real* row = logits.data() + t * vocabulary;
      outcome.expected = target[t];
      outcome.predicted = static_cast<int32_t>(std::max_element(row, row + vocabulary) - row);
      const bool hit = outcome.predicted == outcome.expected;
      correct.tokens += hit;
      outcome.correct = outcome.correct && hit;
      if (counts) ++(*counts)[{outcome.expected, outcome.predicted}];
    }
    correct.examples += outcome.correct;
    if (outcomes) outcomes->push_back(outcome);
  }
  return correct;
}

}  // namespace

Scores evaluate(const Model& model, const Dataset& dataset, Framing framing, int64_t batch_size,
                std::vector<Outcome>* outcomes, TargetCounts* counts) {
  ScopeGuard scope_guard;
  scope_guard->gradients = scope_guard->training = false;
  Batches batches = Batches::in_order(dataset, framing, batch_size);
  Scores scores;
  Correct correct;
  Batch batch;
  for (int64_t i = 0; i < batches.count(); ++i) {
    batches.get(i, batch);
    const Tensor logits = model.logits(inputs_of(batch));
    scores.loss += cross_entropy(logits, batch.target).item();
    scores.targets += batch.targets;
    scores.examples += batch.target.dim(0);
    const Correct batch_correct = count_correct(logits, batch, outcomes, counts);
    correct.tokens += batch_correct.tokens;
    correct.examples += batch_correct.examples;
  }
  const auto fraction = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  scores.loss /= static_cast<double>(std::max<int64_t>(1, scores.targets));
  scores.perplexity = std::exp(scores.loss);
  scores.token_accuracy = fraction(correct.tokens, scores.targets);
  scores.exact_match = fraction(correct.examples, scores.examples);
  return scores;
}

}  // namespace heed
