// The training step: forward, backward and one update of the weights. Evaluations, checkpoints and
// the log are in apps/training/listeners.h.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/training/shards.h"
#include "core/threads.h"
#include "data/batch.h"
#include "optim/average.h"
#include "optim/layout.h"
#include "optim/plateau.h"

namespace heed {

struct StepReport {
  double loss = 0;            // mean over the target tokens of the step, with label smoothing
  double gradient_norm = 0;   // before clipping
  double gradient_scale = 1;  // of the parameters' gradients, which are sums over targets
  double lr = 0;
  int64_t tokens = 0;  // input tokens without padding
  double seconds = 0;  // that the step took; set by the training loop
};

// Stages that an observer (core/observer.h) sees besides operations.
inline constexpr const char* batch_stage = "batch preparation";
inline constexpr const char* optimizer_stage = "optimizer";

class Trainer {
 public:
  // Creates the model, whose initial weights depend on the seed, the optimizer and the batches.
  // Both arguments must outlive the trainer. Throws InputError if model and data do not match.
  Trainer(const Experiment& experiment, const Corpus& corpus);

  // Updates the weights once, from train.accumulate micro-batches in train.shards, those of all
  // ranks (core/ranks.h). Throws Error and leaves the weights unchanged if the loss or the gradient
  // is not finite, and Abandoned (core/abandon.h) if the step is, before it updates anything.
  StepReport step();
  // The same with these shards of micro-batches (see Shards::run), for example to count the cost of
  // a step (core/scope.h).
  StepReport step(std::vector<Batch> micro_batches);
  // Lets `observer` see the operations of all steps to come. Threads that compute shards call it at
  // once.
  void observe(Observer& observer) { shards_.observe(observer); }
  int64_t steps_done() const { return steps_; }

  Model& model() const { return *model_; }
  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }
  std::optional<Plateau>& plateau() { return plateau_; }  // of a schedule that uses losses
  WeightAverage& average() { return average_; }
  // The state of the optimizer and, while the average is applied, that of the average, as
  // ArenaState::tensors() returns it.
  std::vector<NamedParameter> state() const;
  // Continues after this many steps. The caller loads model, optimizer and schedule.
  void set_steps_done(int64_t steps) { steps_ = steps; }

 private:
  StepReport update_weights();
  // Returns step(), computed by all threads or by one, whichever is faster.
  template <class F>
  StepReport timed(const F& step);

  const Experiment& experiment_;
  const Corpus& corpus_;
  LabelSmoothing smoothing_;
  std::unique_ptr<Model> model_;
  Optimizer optimizer_;
  WeightAverage average_;
  Schedule schedule_;
  std::optional<Plateau> plateau_;
  Shards shards_;
  Batches batches_;
  std::vector<Batch> micro_batches_;  // their shards
  ThreadTrial trial_;
  int64_t steps_ = 0;
};

// Replaces the weights by their average (optim.ema, train.average_checkpoints) in its scope.
class AveragedWeights {
 public:
  explicit AveragedWeights(Trainer& trainer) : trainer_(trainer) {
    trainer.average().apply(trainer.steps_done());
  }
  ~AveragedWeights() { trainer_.average().restore(trainer_.steps_done()); }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  Trainer& trainer_;
};

}  // namespace heed
