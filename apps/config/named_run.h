// Finds runs by name: "runs/latest", and the runs that a mistyped name may have meant.
#pragma once

#include <string>

namespace heed {

// The names of the files and folders of a run: see apps/training/run_folder.h.
namespace run_files {
inline constexpr const char *config = "config.toml", *vocabulary = "vocabulary.json",
                            *metrics = "metrics.jsonl", *log = "train.log",
                            *checkpoints = "checkpoints", *snapshots = "snapshots",
                            *result = "result.json", *record = "run.json", *error = "error.txt",
                            *data = "data", *lock = ".lock";
}
// Returns whether the path is that of a folder with a config of a run.
bool is_run(const std::string& path);

// Returns the path of the run directly in `folder` whose training started last; a resumed run
// starts again. Returns "" if there is none. With `config` only looks at the runs that `heed train`
// names after this config: config and config-2. Follows no links.
std::string newest_run(const std::string& folder, const std::string& config = "");

// Returns the name of the first folder that heed makes for a config or a sweep: that of its file
// without ".toml", and "latest-1" for latest.toml, because a folder "latest" would hide the newest
// run.
std::string first_name(const std::string& stem);

// Returns newest_run(FOLDER) for "FOLDER/latest", unless something of that name exists or FOLDER
// has no run. Returns other paths as they are.
std::string named_run(const std::string& path);

// Returns the error for a path at which `expected` is missing. It names the runs with similar
// names, and the newest.
std::string no_such_run(const std::string& path, const char* expected = "run");

}  // namespace heed
