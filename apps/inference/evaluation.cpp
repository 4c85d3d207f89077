#include "apps/inference/evaluation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "apps/support/together.h"
#include "core/ops.h"
#include "core/scope.h"

namespace heed {

namespace {

// What one batch adds to the scores.
struct BatchScores {
  double loss = 0;
  int64_t examples = 0, targets = 0;
  int64_t correct_examples = 0, correct_tokens = 0;
};

struct FlatCount {
  int32_t target, prediction;
  int64_t count;
};

// Adds up the counts of all ranks.
TargetCounts of_all_ranks(const TargetCounts& own) {
  std::vector<FlatCount> flat;
  for (const auto& [pair, count] : own) flat.push_back({pair.first, pair.second, count});
  TargetCounts all;
  for (const FlatCount& each : concatenated(flat))
    all[{each.target, each.prediction}] += each.count;
  return all;
}

// Returns -log p of a target by the logits of its row.
double loss_of(std::span<const real> logits, int32_t target) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const real logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  return std::log(sum) + highest - static_cast<double>(logits[static_cast<size_t>(target)]);
}

// Counts the targets that have the maximum logit of their row, and the examples whose targets all
// do. logits (B, T, vocab) and target (B, T), or (B, C) and (B).
void count_correct(const Tensor& logits, const Batch& batch, BatchScores& scores,
                   std::vector<Outcome>* outcomes, TargetCounts* counts) {
  const Ids& target = batch.target;
  const int64_t vocabulary = logits.dim(-1), examples = target.dim(0);
  const int64_t time = target.size() / std::max<int64_t>(1, examples);
  for (int64_t b = 0; b < examples; ++b) {
    Outcome outcome;
    for (int64_t t = b * time; t < (b + 1) * time; ++t) {
      if (target[t] == ignored) continue;
      const real* row = logits.data() + t * vocabulary;
      outcome.expected = target[t];
      outcome.predicted = static_cast<int32_t>(std::max_element(row, row + vocabulary) - row);
      const bool hit = outcome.predicted == outcome.expected;
      scores.correct_tokens += hit;
      outcome.correct = outcome.correct && hit;
      ++outcome.targets;
      if (!hit && outcome.first_error == 0) outcome.first_error = outcome.targets;
      if (outcomes)
        outcome.loss += loss_of({row, static_cast<size_t>(vocabulary)}, outcome.expected);
      if (counts) ++(*counts)[{outcome.expected, outcome.predicted}];
    }
    scores.correct_examples += outcome.correct;
    if (outcomes) outcomes->push_back(outcome);
  }
}

}  // namespace

Measured evaluate(const Model& model, const Dataset& dataset, ModelKind framing, int64_t batch_size,
                  std::vector<Outcome>* outcomes, TargetCounts* counts) {
  ScopeGuard here;
  here->gradients = here->training = false;
  Batches batches = Batches::in_order(dataset, framing, batch_size);
  const RankShare own(batches.count());
  std::vector<BatchScores> parts;
  std::vector<Outcome> own_outcomes;
  TargetCounts own_counts;
  Batch batch;
  for (int64_t i = own.first; i < own.last; ++i) {
    batches.get(i, batch);
    const Tensor logits = model.logits(batch);
    BatchScores& part = parts.emplace_back();
    part.loss = cross_entropy(logits, batch.target, Reduction::sum).item();
    part.targets = batch.targets;
    part.examples = batch.target.dim(0);
    count_correct(logits, batch, part, outcomes ? &own_outcomes : nullptr,
                  counts ? &own_counts : nullptr);
  }
  if (outcomes) {
    const std::vector<Outcome> all = concatenated(own_outcomes);
    outcomes->insert(outcomes->end(), all.begin(), all.end());
  }
  if (counts)
    for (const auto& [pair, count] : of_all_ranks(own_counts)) (*counts)[pair] += count;
  Measured scores;
  int64_t correct_examples = 0, correct_tokens = 0;
  for (const BatchScores& part : concatenated(parts)) {  // in the order of batches
    scores.loss += part.loss;
    scores.targets += part.targets;
    scores.examples += part.examples;
    correct_tokens += part.correct_tokens;
    correct_examples += part.correct_examples;
  }
  const auto fraction = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  scores.loss /= static_cast<double>(std::max<int64_t>(1, scores.targets));
  scores.token_accuracy = fraction(correct_tokens, scores.targets);
  scores.exact_match = fraction(correct_examples, scores.examples);
  return scores;
}

}  // namespace heed
