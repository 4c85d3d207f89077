// Names of parameters, modules, keys and scores, such as decoder.layers.0.attention.query.weight.
#pragma once

#include <string>
#include <vector>

#include "core/suggest.h"  // last_component()

namespace heed {

// Returns whether a name matches one of the patterns. In a pattern * matches any text, ? one
// character and [ab] one of several.
bool matches_any(const std::string& name, const std::vector<std::string>& patterns);

// Returns the name of a score without its group: "val.loss[length 1.5]" → "val.loss".
std::string without_group(const std::string& score);

// Returns the layer that a parameter or module belongs to: decoder.layers.0.attention, decoder.norm
// or embedding.
std::string layer_of(const std::string& name);

// Orders names by the values of the numbers in them: seed-9 comes before seed-10.
bool comes_before(const std::string& a, const std::string& b);

}  // namespace heed
