// What the keys of a config do to a run. The options of a form that is not chosen do nothing.
#pragma once

#include <string>
#include <string_view>

#include "apps/config/config.h"

namespace heed {

// Returns whether a run with this complete config may depend on the key. False is certain: no value
// of the key changes such a run. "model.positional.base" is unused with learned positions, for
// example, and "data.symbols" by a text.
bool is_used(const std::string& key, const ConfigListing& config);

// Returns what another value of the key does to a run with this complete config.
Field::Effect effect_of(std::string_view key, const ConfigListing& config);
// Returns whether the result of the run depends on the value of the key: Field::Effect::result or
// weights.
bool changes_result(std::string_view key, const ConfigListing& config);
// Returns whether the weights, the scores or the rows of metrics depend on the value: as
// changes_result(), and train.log_every, because the loss of a row is the mean since the last one.
bool changes_metrics(std::string_view key, const ConfigListing& config);

}  // namespace heed
