// The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): what a model would
// predict if it ended after an earlier layer.
//
//   logits(l) = U norm(x(l)) + b, with the final norm's statistics of x(l) itself
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

struct Lens {
  // Losses, entropies and KL(p of the model ‖ p there) are in nats.
  struct Prediction {
    PredictedTokens top;  // the five most likely ones
    double loss = 0, kl = 0;
  };
  // The embedding and each layer of the stack that predicts: means over the targets.
  struct Layer {
    std::optional<int64_t> index;  // none: the embedding
    double loss = 0, accuracy = 0, entropy = 0, kl = 0;
    PredictedTokens top;  // at the last target of the example
  };
  // The embedding and each sublayer, at the last target of the example.
  struct Stage {
    std::string name;
    Prediction prediction;
  };
  std::vector<Layer> layers;  // the last one has the logits of the model
  std::vector<Stage> stages;
  std::optional<std::string> target = {};  // of the example, and its position
  std::optional<int64_t> position = {};    // none for a classifier

  // Returns {"layers": [{"layer", "loss", "accuracy", "entropy", "kl", "top": [{"token",
  // "probability"}, …]}, …], "stages": [{"stage", "top", "loss", "kl"}, …], "target", "position"},
  // with null for what there is not.
  Json json() const;
  Table table() const;
};
// Throws InputError if the stream is no sum (why_no_sum()): the head does not read earlier ones.
Lens lens(const Inspected& inspected, int64_t example = 0);

}  // namespace heed
