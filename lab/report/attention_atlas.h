// The attention of every layer and head on a few examples, at several steps of the training.
#pragma once

#include <string>
#include <vector>

#include "apps/inference/attention_map.h"
#include "apps/support/json.h"
#include "apps/training/saved_run.h"

namespace heed {

// Returns
//
//   {"steps": [200, 400], "examples": [{"title": "3 1 2 → 1 2 3", "maps": [
//     {"name": "decoder.layers.0.attention", "heads": 4, "rows": ["3", …], "columns": ["3", …],
//      "scale": 1, "signed": false, "weights": ["<base64>", "<base64>"]}, …]}]}
//
//   and for each step in "scores" those of heads (lab/inspect/heads.h) on 32 examples of the split:
//   [{"module": "decoder.layers.0.attention", "head": 1, "previous", "duplicate", "induction"}, …]
//
// with the weights at each step as bytes, (heads, rows, columns): √(|weight| / scale) · 255.
// Rows are queries. There are at most 8 steps, the first and the last among them, and at most
// 3 examples of the split, of at most 100 positions; texts are cut to 40 tokens. Throws InputError
// that says why there is none.
Json attention_atlas(const SavedRun& run, const Corpus& corpus, const std::string& split);

// The maps of one example at every step: [step][layer].
using MapsOfExample = std::vector<std::vector<AttentionMap>>;
// Returns the "maps" of an example, as above.
Json maps_json(const MapsOfExample& maps);
// Returns the steps of the run's checkpoints and snapshots; of more than `most`, every n-th, the
// first and the last among them.
std::vector<int64_t> shown_steps(const SavedRun& run, size_t most);

}  // namespace heed
