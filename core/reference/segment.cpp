// Softmax of x (entries, columns) within segments: entry e belongs to segment ids[e].
#include "core/kernels/more_kernels.h"
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

// Lists the entries segment by segment: those of segment s are by_segment[start[s]] up to, but
// without, by_segment[start[s + 1]].
void sort_by_segment(const SegmentSizes& n, const int32_t* ids, int32_t* start,
                     int32_t* by_segment) {
  if (scope().shapes_only) return;
  int32_t listed = 0;
  for (int64_t segment = 0; segment < n.segments; ++segment) {
    start[segment] = listed;
    for (int64_t entry = 0; entry < n.entries; ++entry)
      if (ids[entry] == segment) by_segment[listed++] = static_cast<int32_t>(entry);
  }
  start[n.segments] = listed;
}

// y[e, c] = exp(x[e, c]) / Σ exp(x[f, c]), over the entries f of the segment of e
void segment_softmax_forward(const SegmentSizes& n, Segments segments, const real* x, real* y) {
  for (int64_t s = 0; s < bound(n.segments); ++s)
    for (int64_t c = 0; c < n.columns; ++c) {
      const int32_t *first = segments.by_segment + segments.start[s],
                    *last = segments.by_segment + segments.start[s + 1];
      const SumExp total =
          sum_exp(last - first, [&](int64_t k) { return x[first[k] * n.columns + c]; });
      for (const int32_t* entry = first; entry < last; ++entry)
        y[*entry * n.columns + c] = total.softmax(x[*entry * n.columns + c]);
    }
}

// dx[e, c] = y[e, c] (dy[e, c] - Σ dy[f, c] y[f, c]), over the entries f of the segment of e
void segment_softmax_backward(const SegmentSizes& n, Segments segments, const real* dy,
                              const real* y, Destination dx) {
  for (int64_t s = 0; s < bound(n.segments); ++s)
    for (int64_t c = 0; c < n.columns; ++c) {
      const int32_t *first = segments.by_segment + segments.start[s],
                    *last = segments.by_segment + segments.start[s + 1];
      double dot = 0;
      for (const int32_t* entry = first; entry < last; ++entry) {
        const int64_t at = *entry * n.columns + c;
        dot += double{dy[at]} * y[at];
      }
      for (const int32_t* entry = first; entry < last; ++entry) {
        const int64_t at = *entry * n.columns + c;
        write(dx, at, y[at] * (dy[at] - dot));
      }
    }
}

}  // namespace heed::inline HEED_REAL::kernels
