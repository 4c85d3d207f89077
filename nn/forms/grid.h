// Sequences that form a grid, images (h, w) and video (d, h, w), rearranged for attention along
// some axes.
//
// Position t of a grid (n₁, …, nᵣ) is its row-major index; for an image, t = i·w + j. With all axes
// chosen, time runs over the whole grid, and the transposed matrix of one example, C × h·w, is the
// image's mode-3 unfolding: its columns are the mode-3 fibres, the channels of one pixel (Kolda &
// Bader 2009, section 2.4). With some axes chosen, every line (or plane) along them is a sequence
// of its own, within which attention stays.
#pragma once

#include <span>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// x (B, n₁·…·nᵣ, C), seen as (B, n₁, …, nᵣ, C) → (B · rest, time, C), where time is the product of
// the lengths of `axes` and rest that of the others, both row-major. `axes` count from 0 and must
// ascend. Copies nothing if they are all axes, or the last ones. Throws Error for a grid that does
// not have T positions or has more than four axes, or axes it does not have.
Tensor unfold(const Tensor& x, std::span<const int64_t> grid, std::span<const int64_t> axes);

// The inverse: y (B · rest, time, C) → (B, n₁·…·nᵣ, C)
Tensor fold(const Tensor& y, std::span<const int64_t> grid, std::span<const int64_t> axes);

}  // namespace heed::inline HEED_REAL
