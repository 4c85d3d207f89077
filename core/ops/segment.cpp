// Softmax and sum over segments. An entry belongs to one of n segments, as an edge to the node it
// enters. Attention on a graph consists of these two (Veličković et al. 2018, "Graph attention
// networks", equations 3 and 4).
#include <limits>

#include "core/autograd.h"
#include "core/kernels/more_kernels.h"
#include "core/more_ops.h"

namespace heed::inline HEED_REAL {

static kernels::SegmentSizes checked_sizes(const char* name, const Tensor& x, const Ids& segments,
                                           int64_t n) {
  check(x.rank() >= 1 && segments.shape() == Shape{x.dim(0)},
        "{}: expected one segment per entry of the first axis of x {}, got segments {}", name,
        x.shape(), segments.shape());
  check(n >= 0 && x.dim(0) <= std::numeric_limits<int32_t>::max(),
        "{}: expected at most 2^31 - 1 entries and n ≥ 0, got {} entries and n = {}", name,
        x.dim(0), n);
  const int32_t* id = segments.data();
  for (int64_t e = 0; e < segments.size() && !scope().shapes_only; ++e)
    check(id[e] >= 0 && id[e] < n, "{}: entry {} of {} belongs to segment {}, not in [0, {})", name,
          e, x.dim(0), id[e], n);
  return {x.dim(0), x.shape().span_size(1, x.rank()), n};
}

// y = eˣ / Σ eˣ over the entries of a segment
Tensor segment_softmax(const Tensor& x, const Ids& segments, int64_t n) {
  const kernels::SegmentSizes sizes = checked_sizes("segment_softmax", x, segments, n);
  Ids start = Ids::empty({n + 1}), by_segment = Ids::empty({sizes.entries});
  kernels::sort_by_segment(sizes, segments.data(), start.mutable_data(), by_segment.mutable_data());
  Tensor y = Tensor::empty(x.shape());
  kernels::segment_softmax_forward(sizes, {start.data(), by_segment.data()}, x.data(),
                                   y.mutable_data());
  return record("segment_softmax", y, {x},
                [sizes, start, by_segment, ys = saved(y, x)](Backward& g) {
                  // dx += y (dy - Σ dy y)
                  kernels::segment_softmax_backward(sizes, {start.data(), by_segment.data()},
                                                    g.dy(), ys.data(), g.into(0));
                });
}

// y[segments[e], …] += x[e, …]
Tensor segment_sum(const Tensor& x, const Ids& segments, int64_t n) {
  const kernels::SegmentSizes sizes = checked_sizes("segment_sum", x, segments, n);
  Tensor y = Tensor::empty(x.shape().with(0, n));
  kernels::scatter_rows(sizes.entries, sizes.columns, segments.data(), x.data(), n,
                        {y.mutable_data(), false});
  return record("segment_sum", y, {x}, [sizes, segments = Unchanged(segments)](Backward& g) {
    // dx[e, …] += dy[segments[e], …]
    kernels::gather_rows(sizes.entries, sizes.columns, segments->data(), g.dy(), g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
