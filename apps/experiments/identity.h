// The identity of a run: what its result depends on.
#pragma once

#include <optional>
#include <string>

#include "apps/config/config.h"
#include "apps/training/run.h"

namespace heed {

// Returns the values of a config that the result depends on, one "key = value" a line: all but
// those with KeyEffect::none (apps/training/loop_state.h).
std::string settings_of(const ConfigListing& config);

// Returns the SHA-256 of the settings and of the fingerprint of the data (data/corpus.h).
std::string identity_of(const ConfigListing& config, const std::string& fingerprint);
// The same for a run, from its config.toml and its newest checkpoint. None without a checkpoint.
// Throws InputError if one of them is damaged.
std::optional<std::string> identity_of(const RunFolder& run);

}  // namespace heed
