// run.json: how a run came about, one session for each process that trained it.
//
//   {"sessions": [{"command": ["heed", "train", "configs/reverse.toml"], "heed": "0.2.0",
//                  "commit": "0f1e2d3c4b5a", "compiler": "GNU 12.2.0", "flags": "-O2 -DNDEBUG …",
//                  "processor": …, "threads": 2, "precision": "highest", "blas": …,
//                  "data": "<the fingerprint of data/corpus.h>", "from_step": 0,
//                  "set_in": {"optim.lr": "configs/reverse.toml:12", "seed": "command line", …},
//                  "sweep": "runs/rates",
//                  "start": "2026-01-31T12:00:00Z", "end": "2026-01-31T12:01:00Z",
//                  "seconds": 60.1, "cpu_seconds": 118.2, "peak_rss_mb": 41.3}, …]}
//
// A run of a sweep has the sweep's folder. Its set_in tells the keys that the sweep varies
// ("sweep") from those of its [set] ("rates.toml:5 [set]"), its command line and its config, as the
// sweep's origins.json says.
//
// A session of several processes (core/ranks.h) has their number as "ranks"; its threads and
// seconds are those of the first. A session that was killed has no end. A resume adds a session and
// compares nothing with them.
#pragma once

#include <string>

#include "apps/config/load_config.h"
#include "apps/support/json.h"
#include "apps/training/run_folder.h"

namespace heed {

// Returns the sessions of a run, as an array of objects. Throws InputError if run.json is damaged.
Json sessions_of(const RunFolder& run);

// Returns the fingerprint of the data files of a run (files_fingerprint(), data/corpus.h), from
// run.json or, before heed 0.2.0, from its newest checkpoint. "" for a generated task, and if there
// is neither. Throws InputError if the file is damaged.
std::string recorded_data(const RunFolder& run, const DataOptions& options);

// The file in the folder of a sweep that says where the keys of its base are set:
// {"train.steps": "rates.toml:5 [set]", "model.dim": "configs/sort.toml:14", …}.
inline constexpr const char* origins_file = "origins.json";

}  // namespace heed
