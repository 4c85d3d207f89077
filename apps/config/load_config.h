// From the path of a config to an experiment that makes sense.
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
};

// Reads, applies the --set assignments, and checks that the values do not contradict one another.
LoadedConfig load_config(const std::string& path, const std::vector<std::string>& assignments);

// Calls f; an InputError of its that names a key the config sets gets the key's place.
template <class F>
auto with_places(const Origins& origins, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    throw InputError(with_place(error.what(), origins));
  }
}

// The data of the experiment.
Corpus load_data(const LoadedConfig& config);

// Threads and precision, for all that this thread computes from here on.
void apply_settings(const Experiment& experiment);

}  // namespace heed
