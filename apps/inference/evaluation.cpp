#include "apps/inference/evaluation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "apps/support/together.h"
#include "core/inference_scope.h"
#include "core/ops.h"
#include "nn/search.h"

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

// Compares the logits at a target, whose log Σ exp is `log_sum`, with its reference.
void add_reference(std::span<const real> logits, double log_sum, int32_t target,
                   std::span<const float> reference, BatchScores& scores) {
  const bool is_loss = reference.size() == 1;
  if (std::isnan(reference[0])) return;
  scores.best_loss +=
      is_loss ? double{reference[0]} : -std::log(double{reference[static_cast<size_t>(target)]});
  scores.loss_with_best += log_sum - static_cast<double>(logits[static_cast<size_t>(target)]);
  ++scores.best_losses;
  if (is_loss) return;
  for (size_t i = 0; i < logits.size(); ++i)
    if (const double p = reference[i]; p > 0)
      scores.divergence += p * (std::log(p) - static_cast<double>(logits[i]) + log_sum);
  ++scores.divergences;
}

// Calls measure(t, outcome, reference) for each target t of a batch that is not ignored, with the
// outcome of its example up to it and its part of the example's reference. Adds what it returns to
// `details` unless null.
template <class Measure>
void measure_targets(const Batch& batch, Examples read, BatchScores& scores,
                     EvaluationDetails* details, const Measure& measure) {
  const int64_t examples = batch.target.dim(0);
  const int64_t time = batch.target.size() / std::max<int64_t>(1, examples);
  for (int64_t b = 0; b < examples; ++b) {
    const Example& example = *read[static_cast<size_t>(b)];
    Outcome outcome{.group = example.group};
    std::span<const float> reference = example.reference;
    const size_t width = reference_width(example);
    for (int64_t t = b * time; t < (b + 1) * time; ++t) {
      if (batch.target[t] == ignored) continue;
      ++outcome.targets;
      TargetOutcome target = measure(t, outcome, reference.first(width));
      target.position = static_cast<int32_t>(t - b * time);
      reference = reference.subspan(width);
      if (details) details->targets.push_back(target);
    }
    scores.correct_tokens += outcome.correct_targets;
    scores.examples += outcome.targets > 0;
    scores.correct_examples += outcome.correct && outcome.targets > 0;
    if (details) details->outcomes.push_back(outcome);
  }
}

// Counts the targets that have the maximum logit of their row, and the examples whose targets all
// do. logits (B, T, vocab) and target (B, T), or (B, C) and (B).
void count_correct(const Tensor& logits, const Batch& batch, Examples read, BatchScores& scores,
                   EvaluationDetails* details) {
  const auto vocabulary = static_cast<size_t>(logits.dim(-1));
  measure_targets(batch, read, scores, details, [&](int64_t t, Outcome& outcome, auto reference) {
    const std::span<const real> row(logits.data() + t * logits.dim(-1), vocabulary);
    TargetOutcome target;
    outcome.expected = target.expected = batch.target[t];
    outcome.predicted = target.predicted =
        static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    const bool hit = outcome.predicted == outcome.expected;
    outcome.correct = outcome.correct && hit;
    outcome.correct_targets += hit;
    if (!hit && outcome.first_error == 0) outcome.first_error = outcome.targets;
    if (!details && reference.empty()) return target;
    const real most = row[static_cast<size_t>(target.predicted)];
    const double sum = log_sum_exp(row, most);
    if (!reference.empty()) add_reference(row, sum, target.expected, reference, scores);
    target.loss = sum - row[static_cast<size_t>(target.expected)];
    target.predicted_loss = sum - most;
    outcome.loss += target.loss;
    return target;
  });
}

// The same of targets that are numbers: adds the squared errors.
void add_numbers(const Tensor& outputs, const Batch& batch, Examples read, BatchScores& scores,
                 EvaluationDetails* details) {
  double count = 0;
  measure_targets(batch, read, scores, details, [&](int64_t t, Outcome& outcome, auto reference) {
    const double y = batch.numbers.data()[t], error = outputs.data()[t] - y;
    const double distance = y - scores.mean;
    scores.mean += distance / ++count;
    scores.squares += distance * (y - scores.mean);
    outcome.loss += error * error;
    if (!reference.empty() && !std::isnan(reference[0])) {
      scores.best_loss += double{reference[0]};
      scores.loss_with_best += error * error;
      ++scores.best_losses;
    }
    return TargetOutcome{.loss = error * error};
  });
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

size_t reference_width(const Example& example) {
  const std::vector<int32_t>& ids = example.target;
  const int64_t targets = std::ssize(ids) - std::count(ids.begin(), ids.end(), ignored);
  return example.reference.size() / static_cast<size_t>(std::max<int64_t>(1, targets));
}

Tensor batch_loss(const Tensor& logits, const Batch& batch, Reduction reduction) {
  return batch.numbers ? squared_error(logits, batch.numbers, reduction)
                       : cross_entropy(logits, batch.target, reduction);
}

Measured evaluate(const Model& model, const Dataset& dataset, ModelKind framing, int64_t batch_size,
                  EvaluationDetails* details) {
  const InferenceScope here;
  Batches batches = Batches::in_order(dataset, framing, batch_size);
  const RankShare own(batches.count());
  std::vector<BatchScores> parts;
  EvaluationDetails found;
  Batch batch;
  for (int64_t i = own.first; i < own.last; ++i) {
    const Examples read = batches.examples(i);
    batches.write(read, batch);
    const Tensor logits = model.logits(batch);
    BatchScores& part = parts.emplace_back();
    part.loss = batch_loss(logits, batch, Reduction::sum).item();
    part.targets = batch.targets;
    (batch.numbers ? add_numbers : count_correct)(logits, batch, read, part,
                                                  details ? &found : nullptr);
  }
  if (details) {
    append(details->outcomes, concatenated(found.outcomes));
    append(details->targets, concatenated(found.targets));
  }
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
