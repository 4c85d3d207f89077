// The loops of other operations (core/more_ops.h), and those that only fast kernels call.
#pragma once

#include "core/kernels/kernels.h"

namespace heed::inline HEED_REAL::kernels {

// ---- maximum.cpp
// Takes the maximum of `from`, of shape `shape`, along the axes in which `target` broadcasts to
// `shape`: NaN if any element is NaN, -inf if there are none.
void max_to(const real* from, const Shape& shape, const Shape& target, real* to);

// ---- log_softmax.cpp, of each row of x, y (rows, width). If all x[i] are -inf, it is -inf, and
// its gradient 0.
void log_softmax_forward(const Rows& n, const real* x, real* y);
void log_softmax_backward(const Rows& n, const real* dy, const real* y, Destination dx);

// ---- normalise.cpp, of each row of x, y (rows, width)
// y = 1 / n at the n elements of a row that equal its maximum, 0 elsewhere. A row of only -inf
// gives zeros; a row with a NaN gives NaN everywhere.
void hardmax(const Rows& n, const real* x, real* y);
// y = x / Σ x for each row, or zeros if Σ x ≤ least. `sums` (rows) receives Σ x, or 0 in that case.
void sum_normalize_forward(const Rows& n, real least, const real* x, real* y, real* sums);
// dx = (dy - Σ dy y) / Σ x, or zeros if `sums` is 0
void sum_normalize_backward(const Rows& n, const real* dy, const real* y, const real* sums,
                            Destination dx);

// ---- segment.cpp: softmax over segments: entries e with the same segment id, in any order
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

// ---- philox.cpp
// Writes words 4 · first_block … 4 · (first_block + blocks) - 1 of a stream to `words`, with vector
// instructions, on the calling thread.
void philox_words(const StreamKey& stream, uint64_t first_block, int64_t blocks, uint32_t* words);

// ---- mse_loss.cpp
// Returns Σ (x[i] - y[i])², i < n.
double squared_distance(int64_t n, const real* x, const real* y);
// to[i] = factor (x[i] - y[i]), i < n
void scaled_difference(int64_t n, real factor, const real* x, const real* y, Destination to);

}  // namespace heed::inline HEED_REAL::kernels
