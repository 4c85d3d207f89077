// One thread processes a whole segment, in the order of its entries: the same bits for any number
// of threads.
#include <algorithm>
#include <utility>

#include "core/kernels/map.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Columns of a segment are processed in blocks, whose maxima and sums are on the stack.
constexpr int64_t segment_columns = 64;

// Columns [column, column + count) of the entries of a segment.
struct Part {
  const int32_t *first, *last;  // indices of the entries
  int64_t column, count, stride;

  // Calls f(offset) for every entry, with the offset of its first column.
  template <class F>
  void for_entries(F f) const {
    for (const int32_t* entry = first; entry < last; ++entry) f(*entry * stride + column);
  }
};

// Calls f(part) for all segments and blocks of columns, on all threads.
template <class F>
void for_parts(const SegmentSizes& n, Segments segments, F f) {
  const int64_t each = n.columns * (n.entries / std::max<int64_t>(1, n.segments) + 1);
  parallel_for(n.segments, chunk_rows(each), [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      for (int64_t c = 0; c < n.columns; c += segment_columns)
        f(Part{segments.by_segment + segments.start[s], segments.by_segment + segments.start[s + 1],
               c, std::min(segment_columns, n.columns - c), n.columns});
  });
}

}  // namespace

void sort_by_segment(const SegmentSizes& n, const int32_t* ids, int32_t* start,
                     int32_t* by_segment) {
  if (scope().shapes_only) return;
  // start[s + 1] is first the number of entries of s, then the index where s begins, then where it
  // ends.
  std::fill_n(start, n.segments + 1, 0);
  for (int64_t e = 0; e < n.entries; ++e) ++start[ids[e] + 1];
  int32_t before = 0;
  for (int64_t s = 1; s <= n.segments; ++s) before += std::exchange(start[s], before);
  for (int64_t e = 0; e < n.entries; ++e) by_segment[start[ids[e] + 1]++] = static_cast<int32_t>(e);
}

void segment_softmax_forward(const SegmentSizes& n, Segments segments, const real* x, real* y) {
  for_parts(n, segments, [=](const Part& part) {
    real shift[segment_columns] = {}, total[segment_columns] = {};
    std::fill_n(shift, part.count, -infinity);
    part.for_entries([&](int64_t at) {
      for (int64_t c = 0; c < part.count; ++c) shift[c] = std::max(shift[c], x[at + c]);
    });
    // -inf - -inf would be NaN.
    for (int64_t c = 0; c < part.count; ++c) shift[c] = shift[c] == -infinity ? 0 : shift[c];
    part.for_entries([&](int64_t at) {
      for (int64_t c = 0; c < part.count; ++c) total[c] += y[at + c] = exp(x[at + c] - shift[c]);
    });
    for (int64_t c = 0; c < part.count; ++c) total[c] = total[c] == 0 ? 0 : 1 / total[c];
    part.for_entries([&](int64_t at) {
      for (int64_t c = 0; c < part.count; ++c) y[at + c] *= total[c];
    });
  });
}

void segment_softmax_backward(const SegmentSizes& n, Segments segments, const real* dy,
                              const real* y, Destination dx) {
  for_parts(n, segments, [=](const Part& part) {
    real dot[segment_columns] = {};
    part.for_entries([&](int64_t at) {
      for (int64_t c = 0; c < part.count; ++c) dot[c] += dy[at + c] * y[at + c];
    });
    part.for_entries([&](int64_t at) {
      const real *g = dy + at, *p = y + at, *d = dot;
      map_range(0, part.count, {dx.data + at, dx.accumulate},
                [=](int64_t c) { return p[c] * (g[c] - d[c]); });
    });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
