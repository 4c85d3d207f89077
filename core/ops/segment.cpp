// Entries that belong to one of n segments: softmax within each, and their sum.
#include "core/kernels/segment.h"

#include "core/autograd.h"
#include "core/kernels/embedding.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {
namespace {

void check_segments(const char* name, const Tensor& x, const Ids& segments, int64_t n) {
  check(x.rank() >= 1 && segments.shape() == Shape{x.dim(0)},
        "{}: every entry of x {} belongs to one segment, so segments must have shape [{}], have {}",
        name, x.shape(), x.rank() >= 1 ? x.dim(0) : 0, segments.shape());
  const int32_t* id = segments.data();
  for (int64_t e = 0; e < segments.size(); ++e)
    check(id[e] >= 0 && id[e] < n, "{}: entry {} belongs to segment {}, which is not in [0, {})",
          name, e, id[e], n);
}

}  // namespace

// y = eˣ / Σ eˣ over the entries of a segment
Tensor segment_softmax(const Tensor& x, const Ids& segments, int64_t n) {
  check(x.rank() == 2, "segment_softmax: x must be (entries, columns), got {}", x.shape());
  check_segments("segment_softmax", x, segments, n);
  const kernels::SegmentSizes sizes{x.dim(0), x.dim(1), n};
  Tensor y = Tensor::empty(x.shape());
  Tensor greatest = Tensor::empty({n, x.dim(1)}), total = Tensor::empty({n, x.dim(1)});
  kernels::segment_softmax_forward(sizes, segments.data(), x.data(), y.mutable_data(),
                                   greatest.mutable_data(), total.mutable_data());
  return record("segment_softmax", y, {x}, [sizes, segments, ys = saved(y, x)](Backward& g) {
    Tensor dot = Tensor::empty({sizes.segments, sizes.columns});
    // dx += y · (dy - Σ dy · y)
    kernels::segment_softmax_backward(sizes, segments.data(), g.dy(), ys.data(), dot.mutable_data(),
                                      g.into(0));
  });
}

// y[segments[e], …] += x[e, …]
Tensor segment_sum(const Tensor& x, const Ids& segments, int64_t n) {
  check_segments("segment_sum", x, segments, n);
  const int64_t entries = x.dim(0), width = x.shape().span_size(1, x.rank());
  Tensor y = Tensor::empty(x.shape().with(0, n));
  kernels::scatter_rows(entries, width, segments.data(), x.data(), n, {y.mutable_data(), false});
  return record("segment_sum", y, {x}, [entries, width, segments](Backward& g) {
    // dx[e, …] += dy[segments[e], …]
    kernels::gather_rows(entries, width, segments.data(), g.dy(), g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
