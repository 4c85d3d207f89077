// Ablation: how much worse a model is without one of its parts.
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "core/named.h"
#include "lab/experiments/statistics.h"
#include "lab/inspect/inspected.h"

namespace heed {

// What replaces the output of a part: its mean over the examples at each position, 0, or its output
// for the next example of the batch.
enum class AblateWith { mean, zero, resample };
inline constexpr Named<AblateWith> ablate_with_names[] = {
    {"mean", AblateWith::mean}, {"zero", AblateWith::zero}, {"resample", AblateWith::resample}};

// The names of all parts: heads ("decoder.layers.0.attention.head.1"), other sublayers
// ("decoder.layers.0.feed_forward"), layers ("decoder.layers.0") and positions of the embedding
// ("embedding.position.3"; at most 64).
std::vector<std::string> ablation_parts(const Inspected& inspected);

// The loss without each part, and the differences to the whole model with their 95 % intervals, by
// Student's t over the examples, which are paired.
struct Ablation {
  struct Part {
    std::string name;
    double loss = 0;  // without it
    MeanInterval delta, accuracy_delta;
    Json by_position = {};  // ExampleLosses::position_losses()
  };
  double loss = 0, accuracy = 0;  // of the whole model
  Json by_position = {};
  std::vector<Part> parts;

  // Returns {"baseline": {"loss", "accuracy", "loss_by_position": [[position, loss], …]}, "parts":
  // [{"part", "loss", "delta", "interval", "accuracy_delta", "accuracy_interval",
  // "loss_by_position"}, …]}.
  Json json() const;
  // The parts whose loss they raise most come first.
  Table table() const;
};
// Returns [low, high]; null if there is no interval.
Json interval_json(const MeanInterval& mean);
// `sets` are names with commas, ablated at once; without sets every part is ablated alone. Throws
// InputError for a name that is not a part.
Ablation ablate(const Inspected& inspected, AblateWith with,
                const std::vector<std::string>& sets = {});

}  // namespace heed
