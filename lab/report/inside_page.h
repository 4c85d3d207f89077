// What `heed inspect` computes of a run at each of its checkpoints, as one page.
#pragma once

#include <optional>
#include <string>

#include "apps/training/saved_run.h"
#include "lab/inspect/ablate.h"
#include "lab/report/page.h"

namespace heed {

struct InsideRequest {
  std::string split;               // of the examples
  std::optional<int64_t> example;  // shown first, from 0; none: one that is hard, but right
  AblateWith with = AblateWith::mean;
};

// Returns the page, which first shows the checkpoint `loaded`; a slider chooses others, at most 22
// checkpoints and snapshots in all. Its facts are
//
//   {"page": "inside", "model": {"kind", "layers", "decoder_layers", "heads", "width",
//    "parameters"}, "examples", "with": what replaces a head, "notes": [sentence],
//    "checkpoints": [{"step", "loss", "accuracy", "heads": [{"module", "head", "previous",
//      "induction", "duplicate", "copying", "delta", "accuracy_delta", "low", "high",
//      "at": [change of the loss at each of the positions], "all"}, …],
//      "embeddings": {"x", "y": of each token, "shares": of the variance}}, …],
//    "positions": [position of targets], "tokens": those whose embeddings are shown,
//    "first": index of the checkpoint that is shown first, "curve": of the validation loss
//    (lab/report/charts.h), "split",
//    "shown": [{"example", "why": "hardest that is right", "maps": lab/report/attention_atlas.h,
//      "input", "target", "position", "token", "other": whose logits differ by the difference,
//      "views": [{"lens": [{"stage", "top": [[token, probability], …], "loss", "kl"}, …],
//        "parts": [[part, value], …], "difference"}, …], one for each checkpoint}, …]}
//
// with the numbers of lab/inspect; "all" has those of the ablation of all heads of the module. What
// a model cannot have is left out, and a sentence says so. One of up to four examples is shown: the
// one that was asked for, the one with the largest loss among those that the checkpoint gets right,
// the same of those that it gets wrong, and one of median loss.
FactsPage inside_page(const TrainedModel& loaded, const Dataset& examples,
                      const InsideRequest& request);
// The same of the best checkpoint of the run in a folder, and its first inside_examples test
// examples, else those of validation. Throws InputError for a damaged run.
constexpr int64_t inside_examples = 250;
FactsPage inside_page(const std::string& run);

}  // namespace heed
