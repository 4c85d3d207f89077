// Rotation of pairs of columns by angles that grow with the place.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

// `heads` heads of `width` columns side by side. Pair k of a head is its columns 2k and 2k + 1
// where pairs are `neighbours`, else k and k + width / 2.
struct RotarySizes {
  int64_t batch, time, heads, width;
  bool neighbours;
};

// Cosines and sines (time, width / 2) of (first + t) base^(-2k / width), for pair k at place t.
void rotary_angles(const RotarySizes& n, double base, int64_t first, real* cosine, real* sine);

// (a, b) → (a cos - b sin, a sin + b cos) for each pair. The gradient turns the other way:
// `direction` is 1 or -1, the sign of the angle.
void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
