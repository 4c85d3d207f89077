// What happens inside a model while it trains (train.statistics): the member "statistics" of rows
// of metrics.jsonl.
//
//   "parameters": {"embedding.token.weight": {"weight": ‖w‖, "gradient": ‖g‖, "update": ‖Δw‖}, …}
//     Norms after the step, of the gradient before clipping, and of the change by the step. A
//     frozen parameter has only its weight.
//   "layers": {"decoder.layers.0.feed_forward": {"rms": …, "dead": …}, …}
//     RMS of the outputs. Of a position-wise network also the fraction of dead units: hidden
//     activations with |a| ≤ 1e-6 at all positions.
//   "heads": {"decoder.layers.0.attention": {"entropy": […], "distance": […]}, …}
//     For each head, the means over queries of -Σ p ln p (nats) and of Σ p |i - j|, where i and j
//     are the positions of query and key.
//
// Layers are measured on the first 16 examples of the validation split (without one: of the
// training split), heads on the first one, as `heed attend RUN --split val --example 0` shows it.
// Both in a pass without dropout and gradients, so that training gives the same bits with and
// without statistics.
#pragma once

#include <vector>

#include "apps/config/experiment.h"
#include "apps/support/json.h"
#include "apps/training/trainer.h"

namespace heed {

class StepStatistics {
 public:
  // The arguments must outlive it.
  StepStatistics(const Experiment& experiment, const Corpus& corpus, const Trainer& trainer);

  // Remembers the weights. To be called before the step that measure() is about.
  void before_step();
  // Measures the step that is done. Longer examples than 1,024 positions have no "heads".
  Json measure(const StepReport& report) const;

 private:
  Json parameters(double gradient_scale) const;

  const Experiment& experiment_;
  const Trainer& trainer_;
  std::vector<NamedParameter> parameters_;
  Batch examples_, example_;
  std::vector<std::vector<real>> before_;  // the weights of each trained parameter
};

// Parts of it, for tests. Layers that compute nothing are left out.
Json layer_statistics(const Model& model, const Batch& batch);
Json head_statistics(const Model& model, const Batch& example);

}  // namespace heed
