// The training step: what turns batches into better weights. What surrounds it (evaluations,
// checkpoints, the log) is in apps/training/training_loop.h.
#pragma once

#include <memory>
#include <vector>

#include "apps/config/experiment.h"
#include "data/batch.h"

namespace heed {

struct StepReport {
  double loss = 0;           // mean over the step's targets, with label smoothing
  double gradient_norm = 0;  // before clipping
  double lr = 0;
  int64_t tokens = 0;            // inputs read, padding not counted
  int64_t rows_without_sum = 0;  // of attention weights, which became zeros: see sum_normalize()
};

// What an observer (core/observer.h) is told of besides operations.
inline constexpr const char* batch_stage = "batch preparation";
inline constexpr const char* optimizer_stage = "optimizer";

class Trainer {
 public:
  // Makes the model, with initial weights that the seed decides, and everything that trains it.
  // Both arguments must outlive the trainer. Throws InputError where model and data do not fit.
  Trainer(const Experiment& experiment, const Corpus& corpus);

  // One update of the weights, from train.accumulate micro-batches. Throws Error, with the weights
  // as they were, if the loss or the gradient is not finite.
  StepReport step();
  int64_t steps_done() const { return steps_; }

  Model& model() { return *model_; }
  Optimizer& optimizer() { return optimizer_; }
  Schedule& schedule() { return *schedule_; }
  // Goes on as if so many steps were done; model, optimizer and schedule are loaded apart.
  void set_steps_done(int64_t steps) { steps_ = steps; }

 private:
  double run_micro_batch(int64_t index);

  const Experiment& experiment_;
  LabelSmoothing smoothing_;
  std::unique_ptr<Model> model_;
  Optimizer optimizer_;
  std::unique_ptr<Schedule> schedule_;
  Batches batches_;
  std::vector<Batch> micro_batches_;
  int64_t steps_ = 0;
};

}  // namespace heed
