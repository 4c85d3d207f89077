// "Did you mean": the word nearest to one that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Insertions, removals, replacements and swaps of neighbours that lead from a to b (optimal string
// alignment distance).
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or "" if none is near. Candidates and word may be dotted keys: a
// key whose last part fits is near too, so that one given in the wrong section is found.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heed
