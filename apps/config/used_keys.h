// Which keys of a config have an effect: the options of a form that is not chosen have none.
#pragma once

#include <string>

#include "apps/config/config.h"

namespace heed {

// Returns whether a run with this complete config may depend on the key. False is certain: no value
// of the key changes such a run. "model.positional.base" is unused with learned positions, for
// example, and "data.symbols" by a text.
bool is_used(const std::string& key, const ConfigListing& config);

}  // namespace heed
