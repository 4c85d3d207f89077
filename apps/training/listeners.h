// A training in progress, and what listens to its steps: progress, log and metrics, statistics,
// evaluations, checkpoints, early stopping. The loop (training_loop.h) knows none of them: it calls
// a list.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/predictions.h"
#include "apps/training/binding.h"
#include "apps/training/loop_state.h"
#include "apps/training/run_writer.h"
#include "apps/training/trainer.h"

namespace heed {

// A training in progress: what the loop and its listeners share.
struct TrainingContext {
  // With ranks (core/ranks.h), only rank 0 reads and writes the folder; the others pass no writer.
  TrainingContext(const Experiment& experiment, const Corpus& corpus, RunWriter* writer);

  const Experiment& experiment;
  const Corpus& corpus;
  RunWriter* const writer;
  Trainer trainer;
  const Binding binding;
  LoopState state;
  int64_t saved_step = 0;  // of the newest checkpoint
  double started, seconds_before = 0;

  int64_t step() const { return trainer.steps_done(); }
  // Returns whether something is to be done every `every` steps, and after the last one.
  bool due(int64_t every) const { return due_at(step(), every); }
  bool due_at(int64_t step, int64_t every) const;
  bool due_evaluation() const;  // the same of an evaluation
  double elapsed() const;       // seconds of the run, in all processes that trained it
  double tokens_per_second() const;
  // Is called with each row of metrics.jsonl; null: is not.
  std::function<void(const Json& row)> on_row = {};
  // Appends a row to metrics.jsonl. Throws Error if the folder is no longer the locked one.
  void write_row(const Json& row);
  // Saves a checkpoint, unless this step has one. Throws as write_row() does.
  void save();
  // Returns "; the checkpoint of step 20 is intact" for an error, "" if there is none.
  std::string intact() const;
  // Returns what to do about a loss that is not finite, for an error.
  std::string remedy() const;
  // Returns the first examples of a split with the outputs of the model.
  std::vector<Prediction> samples(const std::string& split) const;
};

// All ranks call the same functions in the same order.
class TrainingListener {
 public:
  // Listeners are called in this order. A checkpoint has the rows of metrics of its step.
  enum class Order { metrics, evaluation, checkpoint, stop };

  explicit TrainingListener(TrainingContext& training) : training_(training) {}
  virtual ~TrainingListener() = default;
  virtual Order order() const { return Order::metrics; }
  virtual void before_step() {}
  virtual void after_step(const StepReport&) {}
  // Returns whether the training ends before its last step.
  virtual bool stops() const { return false; }
  // Called after the last step of this process.
  virtual void end() {}

 protected:
  TrainingContext& training_;
};

using TrainingListeners = std::vector<std::unique_ptr<TrainingListener>>;

// Returns the listeners of every training, in the order in which they are called.
TrainingListeners standard_listeners(TrainingContext& training);
// Adds a listener, such as one of lab/, after the others of its order.
void add_listener(TrainingListeners& listeners, std::unique_ptr<TrainingListener> listener);

}  // namespace heed
