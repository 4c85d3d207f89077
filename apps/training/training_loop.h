// The training loop of a run: steps, log, evaluations, checkpoints, early stopping, and the scores
// of the best checkpoint at the end.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/config/experiment.h"
#include "apps/inference/predictions.h"
#include "apps/training/binding.h"
#include "apps/training/checkpoint.h"
#include "apps/training/loop_state.h"
#include "apps/training/run.h"
#include "apps/training/step_statistics.h"
#include "apps/training/trainer.h"

namespace heed {

// Throws InputError if the training needs a validation split and the data have none.
void check_validation_data(const Experiment& experiment, const Corpus& corpus);

class TrainingLoop {
 public:
  // Trains in the locked folder. With `resume`, loads the newest checkpoint if there is one. Throws
  // InputError for a checkpoint that is damaged or of other data. With ranks (core/ranks.h), only
  // rank 0 reads and writes the folder; the others pass no lock.
  TrainingLoop(const Experiment& experiment, const Corpus& corpus, const RunLock* lock,
               bool resume);

  enum class End { done, paused, interrupted };
  // Trains until the last step, until the step `until`, where it pauses, or until Ctrl-C, and
  // saves. The weights at a later step do not depend on pauses. Throws Error if the loss or the
  // gradient is not finite, if a write fails, or if the run folder was moved or deleted. The last
  // checkpoint stays intact.
  End run(int64_t until);

  int64_t steps_done() const { return trainer_.steps_done(); }

  // Scores the best checkpoint on every split and writes result.json. Returns the scores and some
  // samples, for print_escaped(); "" on ranks other than 0.
  std::string finish();

 private:
  void load();
  Json read(std::span<const NamedParameter> optimizer, std::span<const NamedParameter> average);
  void share_parameters();
  void save();
  StepReport step();
  void log_step(const StepReport& report);
  std::string remedy() const;
  void write_row(const Json& row);
  void evaluate();
  std::vector<Prediction> samples(const std::string& split);
  bool due(int64_t every) const { return due_at(trainer_.steps_done(), every); }
  bool due_at(int64_t step, int64_t every) const;
  bool stopped_early() const;
  double elapsed() const;

  const Experiment& experiment_;
  const Corpus& corpus_;
  const RunLock* const lock_;
  Trainer trainer_;
  Checkpoints checkpoints_;
  const Binding binding_;
  LoopState state_;
  std::string processor_;  // on which the run was started
  int64_t saved_step_ = 0;
  int64_t row_tokens_ = 0;        // since the last row of metrics, in this process
  double row_seconds_ = 0;        // since the last row of metrics, in this process
  int64_t rows_without_sum_ = 0;  // of attention weights, since the last warning
  double started_ = 0, seconds_before_ = 0;
  std::unique_ptr<MetricsFile> metrics_;
  std::unique_ptr<StepStatistics> statistics_;  // with train.statistics
};

}  // namespace heed
