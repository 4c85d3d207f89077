// run.json: how a run came about, one session for each process that trained it.
//
//   {"sessions": [{"command": ["heed", "train", "configs/reverse.toml"],
//                  "format": 1, "heed": "0.3.0", "commit": "0f1e2d3c4b5a",
//                  "compiler": "GNU 12.2.0", "flags": "-O2 -DNDEBUG …",
//                  "kernels": "x86-64-v4", "processor": …, "threads": 2, "precision": "highest",
//                  "blas": …, "data": "<the fingerprint of data/corpus.h>", "from_step": 0,
//                  "changed": {"train.steps": ["100", "200"]},
//                  "set_in": {"optim.lr": "configs/reverse.toml:12", "seed": "command line", …},
//                  "sweep": "runs/rates",
//                  "start": "2026-01-31T12:00:00Z", "end": "2026-01-31T12:01:00Z",
//                  "seconds": 60.1, "cpu_seconds": 118.2, "peak_rss_mb": 41.3}, …]}
//
// "format" is run_format of the program that wrote what the session wrote into the folder: config,
// vocabulary, metrics, checkpoints, result and this file. A later number must keep "sessions", and
// "format" and "heed" in each. heed reads every number up to its own.
//
// A session that resumed the run with other values of keys that its metrics depend on has them as
// "changed", the old and the new value as TOML.
//
// A run whose examples come from data.command has "program": its words, the SHA-256 of each that is
// a file, and of the examples that the run keeps in data/.
//
//   "program": {"words": ["python3", "mqar.py"], "files": {"/home/you/mqar.py": "<SHA-256>"},
//               "examples": "<SHA-256>"}
//
// A run of a sweep has the sweep's folder. Its set_in tells the keys that the sweep varies
// ("sweep") from those of its [set] ("rates.toml:5 [set]"), its command line and its config, as the
// sweep's origins.json says.
//
// A session of several processes (core/ranks.h) has their number as "ranks"; its threads and
// seconds are those of the first. A session that was killed has no end. A resume adds a session and
// compares nothing with them, apart from the steps and the schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/config/load_config.h"
#include "apps/support/json.h"
#include "apps/training/run_folder.h"

namespace heed {

constexpr int64_t run_format = 1;

// Returns the sessions of a run, at least one, as an array of objects. Throws InputError if
// run.json is missing or damaged, or if a session has no format or one that this program does not
// know.
Json sessions_of(const RunFolder& run);

// Returns the values that differ, of keys that change the result or the rows of metrics.jsonl.
std::vector<ConfigDifference> changed_keys(const Experiment& before, const Experiment& now);

// The experiment by which the steps after `from_step` were trained.
struct Segment {
  int64_t from_step = 0;
  Experiment experiment;
};
// Returns the segments of a run whose config is `now`, the first from step 0, the last with `now`.
// They differ in changed_keys(): a run that was never resumed with other values has one. Throws
// InputError if run.json is damaged.
std::vector<Segment> segments_of(const RunFolder& run, const Experiment& now);
// Returns the experiment by which a step was trained.
const Experiment& experiment_at(const std::vector<Segment>& segments, int64_t step);
// Returns the config of a run as list_config() does, where a key that changed has all its values:
// "100, 200 from step 100".
ConfigListing config_with_changes(const std::vector<Segment>& segments);

// Returns the fingerprint of the data files of a run (files_fingerprint(), data/corpus.h), from
// run.json. Of data.command it is the words and digests of files: examples differ between seeds. ""
// for a generated task. Throws InputError if the file is damaged.
std::string recorded_data(const RunFolder& run, const DataOptions& options);

// The file in the folder of a sweep that says where the keys of its base are set:
// {"train.steps": "rates.toml:5 [set]", "model.dim": "configs/sort.toml:14", …}.
inline constexpr const char* origins_file = "origins.json";

}  // namespace heed
