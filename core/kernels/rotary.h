// Rotary position embedding: rotates pairs of columns by angles proportional to the position.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// x (batch, time, heads · width). Pair k of a head is its columns 2k and 2k + 1 with `neighbours`,
// else k and k + width / 2.
struct RotarySizes {
  int64_t batch, time, heads, width;
  bool neighbours;
};

// Computes cosines and sines (time, width / 2) of (first + t) base^(-2k / width), for pair k at
// position t.
void rotary_angles(const RotarySizes& n, double base, int64_t first, real* cosine, real* sine);

// (a, b) → (a cos - b sin, a sin + b cos) for each pair. `direction` is the sign of the angle: 1,
// or -1 for the gradient.
void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
