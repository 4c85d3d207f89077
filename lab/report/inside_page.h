// What `heed inspect` computes of a run at each of its checkpoints, as one page.
#pragma once

#include <string>

#include "apps/training/saved_run.h"
#include "lab/inspect/ablate.h"

namespace heed {

struct InsideRequest {
  std::string split;    // of the examples
  int64_t example = 0;  // of attention, lens and attribution, from 0
  AblateWith with = AblateWith::mean;
};

// Returns one HTML file that loads nothing (lab/report/page.h). It first shows the checkpoint
// `loaded`; a slider chooses others, at most 21 in all. Its facts are
//
//   {"page": "inside", "model": {"kind", "layers", "decoder_layers", "heads", "width",
//    "parameters"}, "example", "examples", "with": what replaces a head, "notes": [sentence],
//    "checkpoints": [{"step", "loss", "accuracy", "heads": [{"module", "head", "previous",
//      "induction", "duplicate", "copying", "delta", "accuracy_delta", "low", "high", "all"}, …],
//      "lens": [{"stage", "top": [[token, probability], …], "loss", "kl"}, …],
//      "parts": [[part, value], …], "difference"}, …],
//    "first": index of the checkpoint that is shown first, "curve": of the validation loss
//    (lab/report/charts.h), "maps": lab/report/attention_atlas.h, "input", "target", "position",
//    "token", "other": whose logits differ by the difference, "split"}
//
// with the numbers of lab/inspect; "all" has those of the ablation of all heads of the module. What
// a model cannot have is left out, and a sentence says so.
std::string inside_page(const TrainedModel& loaded, const Dataset& examples,
                        const InsideRequest& request);

}  // namespace heed
