// Helpers of the tests of apps: temporary folders, folders of runs, error messages.
#pragma once

#include "apps/support/files.h"
#include "checks.h"
#include "core/check.h"
#include "temporary_folder.h"

// The run.json of a run that one process trained. `more`: members of its session, each after ", ".
inline std::string record_of_run(const std::string& more = "") {
  return R"({"sessions": [{"format": 1, "heed": "0.2.0", "command": ["heed"], "set_in": {}, )"
         R"("from_step": 0, "start": "2026-01-01T00:00:00Z", "processor": "", "threads": 1)" +
         more + "}]}\n";
}

// Creates a folder with what makes it a run: config.toml and run.json.
inline void write_run(const std::string& folder, const std::string& config) {
  heed::make_folders(folder);
  heed::write_file(folder + "/config.toml", config);
  heed::write_file(folder + "/run.json", record_of_run());
}
