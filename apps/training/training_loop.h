// The training loop of a run: steps, the listeners that are called around them, and the scores of
// the best checkpoint at the end.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/training/listeners.h"

namespace heed {

// Throws InputError if the training needs a validation split and the data have none.
void check_validation_data(const Experiment& experiment, const Corpus& corpus);

class TrainingLoop {
 public:
  // Trains in the run of the writer. If it is resumed, loads its newest checkpoint if there is one.
  // Throws InputError, and changes nothing, for a checkpoint that is damaged or of other data. With
  // ranks (core/ranks.h), only rank 0 reads and writes the folder; the others pass no writer.
  TrainingLoop(const Experiment& experiment, const Corpus& corpus, RunWriter* writer);

  enum class End { done, paused, interrupted };
  // Trains until the last step, until the step `until`, where it pauses, or until Ctrl-C, and
  // saves. Ctrl-C ends a step at once, as if it had not begun; with ranks the step ends first. An
  // evaluation is always finished: the next step depends on it. The weights at a later step do not
  // depend on pauses. Throws Error if the loss or the gradient is not finite, if a write fails, or
  // if the run folder was moved or deleted. The last checkpoint stays intact.
  End run(int64_t until);

  int64_t steps_done() const { return training_.step(); }
  TrainingContext& training() { return training_; }
  // Adds a listener to those of every training: see add_listener().
  void add(std::unique_ptr<TrainingListener> listener) {
    add_listener(listeners_, std::move(listener));
  }

  // Scores the best checkpoint on every split and writes result.json. Returns the scores and some
  // samples, for print_escaped(); "" on ranks other than 0.
  std::string finish();

 private:
  void load();
  Json read(std::span<const NamedParameter> optimizer, std::span<const NamedParameter> average);
  void share_parameters();
  void announce() const;
  StepReport step();
  bool stopped_early() const;

  TrainingContext training_;
  TrainingListeners listeners_;
  std::string processor_, kernels_;  // by which the last checkpoint was trained
};

}  // namespace heed
