// The values of a config: the top-level keys and the sections [train], [model], [optim], [schedule]
// and [data].
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/config/score.h"
#include "core/fields.h"
#include "core/ops.h"
#include "core/precision.h"
#include "core/scope.h"
#include "data/corpus.h"
#include "data/options.h"
#include "nn/models.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace heed {

struct TrainOptions {
  int64_t steps = 1000;
  int64_t batch_size = 32;
  int64_t accumulate = 1;
  int64_t shards = 1;
  double label_smoothing = 0;
  Smoothing label_smoothing_over = Smoothing::vocabulary;
  int64_t evaluate_every = 500;
  double evaluate_factor = 1;
  std::vector<std::string> evaluate_splits = {"val"};
  int64_t evaluate_batch_size = 0;
  int64_t checkpoint_every = 500;
  int64_t keep_checkpoints = 1;
  int64_t snapshots = 20;
  int64_t average_checkpoints = 1;
  int64_t log_every = 50;
  bool statistics = false;
  std::vector<std::string> measures;
  int64_t measure_every = 0;
  int64_t measure_examples = 128;
  int64_t samples = 3;
  const Score* best_by = &scores::loss;
  int64_t patience = 0;
  std::string load;
  std::vector<std::string> load_names = {"*"};
  NewTokens new_tokens = NewTokens::refuse;
  std::vector<std::string> freeze;
  bool detect_anomaly = false;
  int64_t rank_timeout = 600;

  void fields(Fields& f);
  // Throws InputError if values contradict each other.
  void validate() const;
  // Examples in a batch of an evaluation.
  int64_t evaluation_batch() const {
    return evaluate_batch_size > 0 ? evaluate_batch_size : batch_size;
  }
  // Returns whether a step is one of those after which a run of any length is evaluated: s₁ =
  // evaluate_every, and with a factor above 1 sₙ₊₁ = ⌈factor · sₙ⌉, but at least sₙ + 1; with the
  // factor 1 all multiples of evaluate_every. A run is also evaluated after its last step.
  bool evaluates_at(int64_t step) const;
  // Steps between the checkpoints that average_checkpoints counts.
  int64_t average_every() const {
    const bool equal = evaluate_factor == 1;  // 0: not at equal distances
    return checkpoint_every > 0 ? checkpoint_every : equal ? evaluate_every : 0;
  }
};

struct Experiment {
  int64_t seed = 1;
  int64_t threads = 0;
  Precision precision = Precision::highest;
  TrainOptions train;
  ModelOptions model;
  OptimOptions optim{.clip_norm = 1};
  ScheduleOptions schedule;
  DataOptions data;

  void fields(Fields& f);
  // Throws InputError for values out of range, and one that names the keys if values contradict
  // each other.
  void validate() const;

  // Sets train.batch_size = 0 to the number of training examples. Throws InputError that names the
  // keys if they have no end, are too many, or if train.shards does not divide their number.
  void take_all_examples(const Corpus& corpus);
};

// Returns a text of the library with the keys of a config in place of its arguments: `heads` of the
// section "model" becomes `model.heads`.
std::string with_keys(std::string_view text, const std::string& section);
// Calls f, whose options come from a section of a config. Its InputErrors name keys.
template <class F>
auto in_section(const std::string& section, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    throw InputError(with_keys(error.what(), section));
  }
}

// Throws InputError if the model has fewer positions than the longest sequence of the data.
void check_longest(const ModelOptions& model, const Corpus& corpus, int64_t longest);
// Returns the sizes of the model that depend on the data. Throws InputError if model and data do
// not match, for example if a sequence is longer than the number of positions.
ModelSizes model_sizes(const Experiment& experiment, const Corpus& corpus);
// Returns the model of an experiment for a corpus. Throws InputError as model_sizes() does.
std::unique_ptr<Model> make_model(const Experiment& experiment, const Corpus& corpus);

}  // namespace heed
