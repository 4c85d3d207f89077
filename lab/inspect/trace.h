// One example on its way through a model: the stream at every stage and position.
#pragma once

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Returns {"example", "inputs": […], "source": […], "targets": […], "stages": [{"stage", "norm",
// "written", "active", "logits"}, …], "logits", "losses"}. The stages are the embeddings
// ("embedding", "source_embedding") and the sublayers ("decoder.layers.0.attention"), in the order
// of computation. Lists have one value for each position of the example:
//
//   norm     ‖x‖ of the stream after the stage
//   written  ‖c‖ of what a sublayer adds to it; null for an embedding
//   active   the fraction of units with W₁ x + b₁ > 0; null but for feed-forward networks
//   logits   [{"token", "logit", "probability"}, …] if the model ended there (lens.h), the three
//            largest first; null outside the stack that predicts, for a post-norm model, and for a
//            classifier
//
// "logits" of the whole model has the `count` largest, of a classifier one list for all positions.
// "losses" has -ln p of each target, in nats; null where there is none. Tokens are null for
// features. Throws InputError for an example that does not exist.
Json trace(const Inspected& inspected, int64_t example = 0, size_t count = 5);
// The stages at the last target, or at the last position of a stack that predicts nothing.
Table trace_table(const Json& trace);

}  // namespace heed
