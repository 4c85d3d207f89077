// The scores of apps/config/score.h.
#include <cmath>
#include <numbers>

#include "apps/config/experiment.h"
#include "apps/inference/evaluation.h"
#include "apps/support/text_scores.h"

namespace heed {
namespace {

using Value = std::optional<double>;

bool always(const Experiment&) { return true; }

bool is_text(const Experiment& e) {
  return e.data.kind == &data_kinds::text || e.data.kind == &data_kinds::lines;
}

bool is_pairs(const Experiment& e) { return e.data.kind == &data_kinds::pairs; }

// BLEU counts words, so it says little about a model of characters.
bool has_bleu(const Experiment& e) {
  return is_pairs(e) && (e.data.level != Level::character || e.train.best_by == &scores::bleu);
}

bool is_examples(const Experiment& e) { return e.data.kind == &data_kinds::examples; }

Value unless_nan(double value) { return std::isnan(value) ? Value() : Value(value); }

}  // namespace

bool has_exact_match(const Experiment& experiment) {
  return experiment.model.kind != ModelKind::language_model || !is_text(experiment);
}

const Score scores::loss = {.name = "loss",
                            .title = "loss",
                            .unit = "nats per target",
                            .lower_is_better = true,
                            .by_ratio = true,
                            .of_numbers = true,
                            .value = [](const Measured& m) -> Value { return m.loss; },
                            .offered = always};

const Score scores::perplexity = {
    .name = "perplexity",
    .title = "perplexity",
    .lower_is_better = true,
    .by_ratio = true,
    .decimals = 3,
    .value = [](const Measured& m) -> Value { return std::exp(m.loss); },
    .offered = always};

// Compares one data.level with another.
const Score scores::bits_per_byte = {.name = "bits_per_byte",
                                     .title = "bits per byte",
                                     .lower_is_better = true,
                                     .by_ratio = true,
                                     .decimals = 4,
                                     .value = [](const Measured& m) -> Value {
                                       if (m.target_bytes == 0) return {};
                                       return m.loss * static_cast<double>(m.targets) /
                                              static_cast<double>(m.target_bytes) /
                                              std::numbers::ln2;
                                     },
                                     .offered = is_text};

const Score scores::token_accuracy = {
    .name = "token_accuracy",
    .title = "token accuracy",
    .unit = "fraction",
    .maximum = 1,
    .decimals = 2,
    .value = [](const Measured& m) -> Value { return m.token_accuracy; },
    .offered = always};

const Score scores::exact_match = {
    .name = "exact_match",
    .title = "exact match",
    .unit = "fraction",
    .maximum = 1,
    .decimals = 2,
    .value = [](const Measured& m) -> Value { return m.exact_match; },
    .offered = has_exact_match};

const Score scores::bleu = {
    .name = "bleu",
    .title = "BLEU",
    .unit = "0 to 100",
    .maximum = 100,
    .decimals = 2,
    .reads_outputs = true,
    .value = [](const Measured& m) -> Value { return corpus_bleu(m.outputs, m.references); },
    .offered = has_bleu};

const Score scores::chrf = {
    .name = "chrf",
    .title = "chrF2",
    .unit = "0 to 100",
    .maximum = 100,
    .decimals = 2,
    .reads_outputs = true,
    .value = [](const Measured& m) -> Value { return corpus_chrf(m.outputs, m.references); },
    .offered = is_pairs};

// 1 - Σ (ŷ - y)² / Σ (y - mean of y)², of targets that are numbers: 0 for the mean as prediction.
const Score scores::r2 = {.name = "r2",
                          .title = "R²",
                          .unit = "at most 1",
                          .decimals = 4,
                          .of_numbers = true,
                          .of_tokens = false,
                          .value = [](const Measured& m) -> Value {
                            if (m.variance == 0) return {};
                            return 1 - m.loss / m.variance;
                          },
                          .offered = is_examples};

const Score scores::loss_above_best = {
    .name = "loss_above_best",
    .title = "above best",
    .unit = "nats per target",
    .lower_is_better = true,
    .of_numbers = true,
    .value = [](const Measured& m) { return unless_nan(m.loss_above_best); },
    .offered = is_examples};

const Score scores::divergence = {
    .name = "divergence",
    .title = "divergence",
    .unit = "nats per target",
    .lower_is_better = true,
    .value = [](const Measured& m) { return unless_nan(m.divergence); },
    .offered = is_examples};

}  // namespace heed
