// Ablation: how much worse a model is without one of its parts.
#pragma once

#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "core/named.h"
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

// Returns {"baseline": {"loss", "accuracy"}, "parts": [{"part", "loss", "delta", "interval",
// "accuracy_delta", "accuracy_interval"}, …]}: the loss without each part, the difference to that
// of the whole model, and its 95 % interval, by Student's t over the examples, which are paired.
// `sets` are names with commas, ablated at once; without sets every part is ablated alone. Throws
// InputError for a name that is not a part.
Json ablate(const Inspected& inspected, AblateWith with, const std::vector<std::string>& sets = {});
// The parts whose loss they raise most come first.
Table ablation_table(const Json& ablation);

}  // namespace heed
