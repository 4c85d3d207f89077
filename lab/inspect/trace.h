// One example on its way through a model: the stream at every stage and position.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Lists have one value for each position of the example.
struct Trace {
  // An embedding ("embedding", "source_embedding") or a sublayer ("decoder.layers.0.attention").
  struct Stage {
    std::string name;
    std::vector<double> norm;                    // ‖x‖ of the stream after the stage
    std::optional<std::vector<double>> written;  // ‖c‖ of what a sublayer adds to it
    // The fraction of units of a feed-forward network with W₁ x + b₁ > 0.
    std::optional<std::vector<double>> active;
    // The three largest if the model ended there (lens.h), the largest first. None outside the
    // stack that predicts, for a post-norm model, and for a classifier.
    std::optional<std::vector<PredictedTokens>> logits;
  };
  int64_t example = 0;
  Json source, inputs, targets;  // tokens as text, or ids; null where there is none
  std::vector<Stage> stages;     // in the order of computation
  // Of the whole model; of a classifier one list for all positions.
  std::vector<PredictedTokens> logits;
  bool is_classifier = false;
  std::vector<std::optional<double>> losses;  // -ln p of each target, in nats

  // Returns {"example", "source", "inputs", "targets", "stages": [{"stage", "norm", "written",
  // "active", "logits": [[{"token", "logit", "probability"}, …], …]}, …], "logits", "losses"}, with
  // null for what there is not. "logits" of a classifier is one list.
  Json json() const;
  // The stages at the last target, or at the last position of a stack that predicts nothing.
  Table table() const;
};
// The logits of the whole model are the `count` largest. Throws InputError for an example that does
// not exist.
Trace trace(const Inspected& inspected, int64_t example = 0, size_t count = 5);

}  // namespace heed
