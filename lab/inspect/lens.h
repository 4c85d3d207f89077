// The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): what a model would
// predict if it ended after an earlier layer.
//
//   logits(l) = U norm(x(l)) + b, with the final norm's statistics of x(l) itself
#pragma once

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Returns {"layers": [{"layer", "loss", "accuracy", "entropy", "kl", "top"}, …], "stages":
// [{"stage", "top", "loss", "kl"}, …], "target", "position"}. The layers are the embedding
// ("layer": null) and each layer of the stack that predicts. Losses and entropies are in nats; "kl"
// is KL(p of the model ‖ p of the layer); all are means over the targets. The stages are the
// embedding and each sublayer, at the last target of example `example`: "top" has the five most
// likely tokens there, [{"token", "probability"}, …]; "position" is null for a classifier. The last
// row has the logits of the model. Throws InputError for a post-norm model: its streams were
// normalised and are not a sum that the last norm reads.
Json lens(const Inspected& inspected, int64_t example = 0);
Table lens_table(const Json& lens);

}  // namespace heed
