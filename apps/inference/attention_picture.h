// Attention weights as an SVG drawing (https://www.w3.org/TR/SVG11/) for any browser.
//
// A row of panels is a layer, a panel is a head. In a panel, queries are rows and keys are columns.
// The darkness of a cell shows its weight: white is 0, black the maximum of the picture or of the
// head, as a colour bar shows. The maximum of each head is printed above it. Darkness is
// proportional to the square root of the weight.
// (Under a causal mask the first query gives its only key the weight 1; on a linear scale, weights
// of 1/50 would look like 0 next to it.) Negative weights, which only occur without normalisation,
// are red. A cell shows its weight as a tooltip.
#pragma once

#include <string>
#include <vector>

#include "apps/inference/attention_map.h"

namespace heed {

// The maximum number of cells in a picture: about 30 MB, which browsers still display. With more
// weights, a cell shows the mean over a block of adjacent queries and keys.
inline constexpr int64_t max_cells = 200'000;

// What the darkest colour stands for: the maximum of the picture, so that heads can be compared, or
// of each head.
enum class PictureScale { picture, head };

// Returns well-formed XML for any labels.
std::string attention_picture(const std::vector<AttentionMap>& maps, const std::string& title,
                              PictureScale scale = PictureScale::picture);

}  // namespace heed
