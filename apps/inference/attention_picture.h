// Attention as a picture: an SVG drawing (https://www.w3.org/TR/SVG11/) that any browser shows.
//
// A row of panels is a layer, a panel is a head. In a panel queries go down and keys across, and
// the darker a cell, the more the query looks at the key: white is 0, and the darkest cell of a
// panel is its greatest weight, which is written above it. Between them darkness goes with the
// square root: under a causal mask the first query gives its only key a weight of 1, beside which
// one that looks at fifty keys alike would seem to look at none. Weights below 0, which only
// attention that is not normalised has, are red. A cell tells its weight when pointed at.
#pragma once

#include <string>
#include <vector>

#include "apps/inference/attention_map.h"

namespace heed {

// What a picture holds at most: 30 MB, and about all that a browser bears. Where there are more
// weights, a cell shows the mean of as many queries and keys side by side as it takes.
inline constexpr int64_t max_cells = 200'000;

// Well-formed XML, whatever the labels hold.
std::string attention_picture(const std::vector<AttentionMap>& maps, const std::string& title);

// For text and for attributes: XML's signs escaped, and what XML may not hold replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace heed
