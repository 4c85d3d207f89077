// Training examples that are pictures, changed at random each time training reads them: shifted,
// mirrored or rotated. A convolution does not learn from one picture what a rotated one shows, so
// it sees both (Ji, Xie & Gao: the common approach to make a convolution equivariant or invariant).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace heed {

// A change of a picture of rows × columns. What leaves at one end enters at the other. Clients do
// not need it.
struct Movement {
  int64_t down = 0, right = 0;  // cells
  bool mirrored = false;        // left and right are exchanged, before the shift
  int turns = 0;  // quarter turns clockwise, before both; need as many rows as columns
};

// For each cell of a row-major grid (…, rows, columns) the cell whose content it shows after the
// movement, in every picture of the grid alike. Throws Error for a grid of one axis, and for a
// quarter turn of one that is not square.
std::vector<int32_t> moved_cells(std::span<const int64_t> grid, const Movement& movement);

// Returns Dataset::augment for pictures on this grid, whose cells are patches of patch × patch
// pixels. `changes` holds some of "shift": by any number of pixels in both directions, "flip":
// mirrored or not, "rotate": by 0 to 3 quarter turns; each with equal probabilities. Targets at
// positions move with them. Throws InputError for other words, for data without pictures, and for
// quarter turns of pictures that are not square.
std::function<void(int64_t i, Example& example)> augmentation(
    const std::vector<std::string>& changes, std::span<const int64_t> grid, int64_t patch,
    uint64_t seed);

}  // namespace heed
