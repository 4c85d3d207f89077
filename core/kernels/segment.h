// Softmax over entries that belong to segments, in any order.
#pragma once

#include <cstdint>

#include "core/kernels/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct SegmentSizes {
  int64_t entries, columns, segments;
};

// y = eˣ / Σ eˣ, each column over the entries of a segment; x (entries, columns), ids (entries).
// `greatest` and `total` (segments, columns) are written.
void segment_softmax_forward(const SegmentSizes& n, const int32_t* ids, const real* x, real* y,
                             real* greatest, real* total);
// dx = y (dy - Σ dy y); `dot` (segments, columns) is written.
void segment_softmax_backward(const SegmentSizes& n, const int32_t* ids, const real* dy,
                              const real* y, real* dot, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
