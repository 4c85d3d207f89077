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
  double mean = 0, squares = 0;  // of numbers: their mean, and Σ (y - mean)²
  int64_t examples = 0, targets = 0;
  int64_t correct_examples = 0, correct_tokens = 0;
  double best_loss = 0, loss_with_best = 0, divergence = 0;  // sums over targets with a reference
  int64_t best_losses = 0, divergences = 0;                  // number of these
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

// Returns log Σ exp(logit).
double log_sum(std::span<const real> logits) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const real logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  return std::log(sum) + highest;
}

// Returns -log p of a target by the logits of its row.
double loss_of(std::span<const real> logits, int32_t target) {
  return log_sum(logits) - static_cast<double>(logits[static_cast<size_t>(target)]);
}

// Compares the logits at a target with its reference.
void add_reference(std::span<const real> logits, int32_t target, std::span<const float> reference,
                   BatchScores& scores) {
  const bool is_loss = reference.size() == 1;
  if (std::isnan(reference[0])) return;
  scores.best_loss +=
      is_loss ? double{reference[0]} : -std::log(double{reference[static_cast<size_t>(target)]});
  scores.loss_with_best += loss_of(logits, target);
  ++scores.best_losses;
  if (is_loss) return;
  const double sum = log_sum(logits);
  for (size_t i = 0; i < logits.size(); ++i)
    if (const double p = reference[i]; p > 0)
      scores.divergence += p * (std::log(p) - static_cast<double>(logits[i]) + sum);
  ++scores.divergences;
}

size_t number_of_targets(std::span<const int32_t> target) {
  const auto count = std::ranges::count_if(target, [](int32_t id) { return id != ignored; });
  return static_cast<size_t>(std::max<int64_t>(1, count));
}

// Counts the targets that have the maximum logit of their row, and the examples whose targets all
// do. logits (B, T, vocab) and target (B, T), or (B, C) and (B).
void count_correct(const Tensor& logits, const Batch& batch, Examples all, BatchScores& scores,
                   std::vector<Outcome>* outcomes, TargetCounts* counts) {
  const Ids& target = batch.target;
  const int64_t vocabulary = logits.dim(-1), examples = target.dim(0);
  const int64_t time = target.size() / std::max<int64_t>(1, examples);
  for (int64_t b = 0; b < examples; ++b) {
    Outcome outcome;
    const Example& example = *all[static_cast<size_t>(b)];
    std::span<const float> reference = example.reference;
    const size_t width = reference.size() / number_of_targets(example.target);
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
      if (width == 0) continue;
      add_reference({row, static_cast<size_t>(vocabulary)}, outcome.expected,
                    reference.first(width), scores);
      reference = reference.subspan(width);
    }
    scores.correct_examples += outcome.correct;
    if (outcomes) outcomes->push_back(outcome);
  }
}

// The same of targets that are numbers: adds the squared errors.
void add_numbers(const Tensor& outputs, const Batch& batch, Examples all, BatchScores& scores,
                 std::vector<Outcome>* outcomes) {
  const int64_t examples = batch.target.dim(0), time = batch.target.size() / examples;
  double count = 0;
  for (int64_t b = 0; b < examples; ++b) {
    Outcome outcome;
    const std::vector<float>& reference = all[static_cast<size_t>(b)]->reference;
    for (int64_t t = b * time; t < (b + 1) * time; ++t) {
      if (batch.target[t] == ignored) continue;
      const double y = batch.numbers.data()[t], error = outputs.data()[t] - y;
      const double distance = y - scores.mean;
      scores.mean += distance / ++count;
      scores.squares += distance * (y - scores.mean);
      outcome.loss += error * error;
      const auto target = static_cast<size_t>(outcome.targets++);
      if (target >= reference.size() || std::isnan(reference[target])) continue;
      scores.best_loss += double{reference[target]};
      scores.loss_with_best += error * error;
      ++scores.best_losses;
    }
    if (outcomes) outcomes->push_back(outcome);
  }
}

}  // namespace

Tensor batch_loss(const Tensor& logits, const Batch& batch, Reduction reduction) {
  return batch.numbers ? squared_error(logits, batch.numbers, reduction)
                       : cross_entropy(logits, batch.target, reduction);
}

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
    const Examples examples = batches.examples(i);
    batches.write(examples, batch);
    const Tensor logits = model.logits(batch);
    BatchScores& part = parts.emplace_back();
    part.loss = batch_loss(logits, batch, Reduction::sum).item();
    part.targets = batch.targets;
    part.examples = batch.target.dim(0);
    std::vector<Outcome>* const own_results = outcomes ? &own_outcomes : nullptr;
    batch.numbers
        ? add_numbers(logits, batch, examples, part, own_results)
        : count_correct(logits, batch, examples, part, own_results, counts ? &own_counts : nullptr);
  }
  if (outcomes) {
    const std::vector<Outcome> all = concatenated(own_outcomes);
    outcomes->insert(outcomes->end(), all.begin(), all.end());
  }
  if (counts)
    for (const auto& [pair, count] : of_all_ranks(own_counts)) (*counts)[pair] += count;
  Measured scores;
  int64_t correct_examples = 0, correct_tokens = 0;
  BatchScores best;
  double mean = 0;                                       // of targets that are numbers
  for (const BatchScores& part : concatenated(parts)) {  // in the order of batches
    scores.loss += part.loss;
    if (part.targets > 0) {  // Chan, Golub & LeVeque 1983
      const double before = static_cast<double>(scores.targets),
                   more = static_cast<double>(part.targets);
      const double distance = part.mean - mean;
      mean += distance * more / (before + more);
      scores.variance += part.squares + distance * distance * before * more / (before + more);
    }
    scores.targets += part.targets;
    scores.examples += part.examples;
    correct_tokens += part.correct_tokens;
    correct_examples += part.correct_examples;
    best.best_loss += part.best_loss;
    best.loss_with_best += part.loss_with_best;
    best.divergence += part.divergence;
    best.best_losses += part.best_losses;
    best.divergences += part.divergences;
  }
  if (const auto count = static_cast<double>(best.best_losses); count > 0) {
    scores.best_loss = best.best_loss / count;
    scores.loss_above_best = best.loss_with_best / count - scores.best_loss;
  }
  if (best.divergences > 0)
    scores.divergence = best.divergence / static_cast<double>(best.divergences);
  const auto fraction = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  const auto targets = static_cast<double>(std::max<int64_t>(1, scores.targets));
  scores.loss /= targets;
  scores.variance /= targets;
  scores.token_accuracy = fraction(correct_tokens, scores.targets);
  scores.exact_match = fraction(correct_examples, scores.examples);
  return scores;
}

}  // namespace heed
