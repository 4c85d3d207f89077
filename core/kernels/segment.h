// Softmax over segments: entries e with the same segment id, in any order.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

struct SegmentSizes {
  int64_t entries, columns, segments;
};

// The entries of segment s are by_segment[k], start[s] ≤ k < start[s + 1], in increasing order (a
// counting sort). ids (entries), start (segments + 1), by_segment (entries)
struct Segments {
  const int32_t *start, *by_segment;
};
void sort_by_segment(const SegmentSizes& n, const int32_t* ids, int32_t* start,
                     int32_t* by_segment);

// y = eˣ / Σ eˣ, for each column over the entries of each segment; x, y (entries, columns). If all
// entries are -inf, y and the gradients are 0.
void segment_softmax_forward(const SegmentSizes& n, Segments segments, const real* x, real* y);
// dx = y (dy - Σ dy y)
void segment_softmax_backward(const SegmentSizes& n, Segments segments, const real* dy,
                              const real* y, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
