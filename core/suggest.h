// "Did you mean": the known word that is closest to an unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/real.h"

namespace heed::inline HEED_REAL {

// Returns what follows the last dot: "optim.lr" → "lr".
inline std::string last_component(std::string_view name) {
  return std::string(name.substr(name.rfind('.') + 1));
}

// Returns the optimal string alignment distance: the number of insertions, deletions,
// substitutions and swaps of neighbours that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

// Returns the candidate closest to `word`, or "" if none is close. For dotted keys a candidate
// whose last component is close counts, too: it finds keys in the wrong section.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean 'nearest'?" for an error message, or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heed::inline HEED_REAL
