// Where a prediction differs from the expected output.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heed {

// Parts of a text, each with whether the other text lacks it.
using MarkedText = std::vector<std::pair<std::string, bool>>;

// Marks in both texts what is not in their longest common subsequence: of words if they have
// spaces, of characters otherwise. Beyond 400 of these, different texts are marked as a whole.
std::pair<MarkedText, MarkedText> marked_difference(const std::string& a, const std::string& b);

}  // namespace heed
