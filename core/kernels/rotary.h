// Rotation of pairs of columns by angles that grow with the place.
#pragma once

#include <cstdint>

#include "core/kernels/destination.h"

namespace heed::inline HEED_REAL::kernels {

// `heads` heads of `width` columns side by side. Columns first + step · k of a head and
// first + step · k + apart are pair k: step 2, apart 1 where they are neighbours; step 1, apart
// width / 2 where the halves are.
struct RotarySizes {
  int64_t batch, time, heads, width;
  int64_t step, apart;
};

// cosine, sine (time, width / 2): those of pair k at place t. With a = x[pair's first] and
// b = x[pair's second]:  a' = a cos - b sin,  b' = a sin + b cos. Backward turns the other way:
// `direction` is 1 or -1, the sign of the angle.
void rotate(const RotarySizes& n, real direction, const real* cosine, const real* sine,
            const real* x, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
