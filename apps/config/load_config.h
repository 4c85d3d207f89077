// Loads a config.
#pragma once

#include <string>
#include <vector>

#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "core/check.h"

namespace heed {

struct LoadedConfig {
  Experiment experiment;
  Origins origins;
  std::string run_vocabulary;  // of a run: the path of its vocabulary.json
  // Whether data.command may be started. Not of a run, whose folder may come from anybody.
  bool starts_command = true;
};

// Reads a config, applies the --set assignments, and validates the result.
LoadedConfig load_config(const std::string& path, const std::vector<std::string>& assignments);
// The same for the config of a run, which must not inherit from another file.
LoadedConfig load_run_config(const std::string& path, const std::vector<std::string>& assignments);
// Applies the --set assignments to an experiment that has no file, and validates the result.
LoadedConfig with_assignments(const Experiment& experiment,
                              const std::vector<std::string>& assignments);

// Calls f. If it throws an InputError with keys, adds where the config sets the first of them.
template <class F>
auto with_origins(const Origins& origins, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    throw with_origin(error, origins);
  }
}

// Sets the number of threads and the precision of the calling thread.
void apply_settings(const Experiment& experiment);

}  // namespace heed
