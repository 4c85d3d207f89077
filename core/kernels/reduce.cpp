// Adjacent axes are merged, so that kept axes and reduced axes alternate. The first kept axis is
// divided among the threads. If the first axis is reduced and the result is small, as in the
// gradient of a bias, threads reduce pieces of that axis, whose results are combined in order.
#include <algorithm>
#include <array>
#include <limits>

#include "core/kernels/axes.h"
#include "core/kernels/more_kernels.h"
#include "core/kernels/simd/lanes.h"
#include "core/parallel.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

struct Sum {
  static constexpr real identity = 0;
  real operator()(real a, real b) const { return a + b; }
  // A contiguous row. Long ones are summed in pieces, and the pieces in double.
  static real reduce_row(int64_t n, const real* x) {
    constexpr int64_t piece = 1024;
    if (n <= piece) return row_sum(n, x);
    double total = 0;
    for (int64_t i = 0; i < n; i += piece) total += row_sum(std::min(piece, n - i), x + i);
    return static_cast<real>(total);
  }
};

struct Max {
  static constexpr real identity = -infinity;
  real operator()(real a, real b) const { return b > a || b != b ? b : a; }
  static real reduce_row(int64_t n, const real* x) {
    const bool has_nan = max_of(n, [=](int64_t i) { return real(x[i] != x[i]); }) > 0;
    return has_nan ? std::numeric_limits<real>::quiet_NaN() : row_max(n, x);
  }
};

// The axes of x and of the result. An axis that is reduced has stride 0 in the result.
using ReducedAxes = Axes<2>;
using Axis = ReducedAxes::Axis;

bool kept(const Axis& axis) { return axis.stride[1] != 0; }

// y[j] = y[j] ∘ x[0, j] ∘ x[1, j] ∘ …, x (rows, width) with leading dimension `leading`
template <class Op>
void reduce_few_rows(int64_t rows, int64_t width, int64_t leading, const real* x,
                     real* __restrict y, Op op) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const real *a = x + i * leading, *b = a + leading, *c = b + leading, *d = c + leading;
    for (int64_t j = 0; j < width; ++j) y[j] = op(y[j], op(op(a[j], b[j]), op(c[j], d[j])));
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) y[j] = op(y[j], x[i * leading + j]);
}

// The same for any number of rows: in strips of columns that stay in the L1 cache, and in blocks of
// rows, each reduced by itself, so that long sums in float stay accurate.
template <class Op>
void reduce_rows(int64_t rows, int64_t width, int64_t leading, const real* x, real* y, Op op) {
  constexpr int64_t strip = 1024, block = 512;
  for (int64_t j = 0; j < width; j += strip) {
    const int64_t columns = std::min(strip, width - j);
    if (rows <= block) {
      reduce_few_rows(rows, columns, leading, x + j, y + j, op);
      continue;
    }
    for (int64_t i = 0; i < rows; i += block) {
      std::array<real, strip> part;
      std::fill_n(part.data(), columns, Op::identity);
      reduce_few_rows(std::min(block, rows - i), columns, leading, x + i * leading + j, part.data(),
                      op);
      reduce_few_rows(1, columns, 0, part.data(), y + j, op);
    }
  }
}

// Reduces the axes [axis, end) of x, at least one, into y, on the calling thread.
template <class Op>
void reduce(const Axis* axis, const Axis* end, const real* x, real* y, Op op) {
  if (axis + 1 == end && !kept(*axis)) {
    *y = op(*y, Op::reduce_row(axis->length, x));
  } else if (axis + 1 == end) {
    reduce_rows(1, axis->length, 0, x, y, op);
  } else if (axis + 2 == end && !kept(*axis)) {
    reduce_rows(axis->length, axis[1].length, axis->stride[0], x, y, op);
  } else {
    for (int64_t i = 0; i < axis->length; ++i)
      reduce(axis + 1, end, x + i * axis->stride[0], y + i * axis->stride[1], op);
  }
}

// The same with only `length` indices of axis k.
template <class Op>
void reduce_part(ReducedAxes axes, size_t k, int64_t length, const real* x, real* y, Op op) {
  axes.axis[k].length = length;
  reduce(axes.axis.data(), axes.axis.data() + axes.count, x, y, op);
}

// Divides axis k, the first kept one, among the threads.
template <class Op>
void reduce_kept_axis(const ReducedAxes& axes, size_t k, int64_t grain, const real* from,
                      Destination to, Op op) {
  const Axis& axis = axes.axis[k];
  parallel_for(axis.length, grain, [&](int64_t first, int64_t last) {
    real* y = to.data + first * axis.stride[1];
    if (!to.accumulate) std::fill_n(y, (last - first) * axis.stride[1], Op::identity);
    reduce_part(axes, k, last - first, from + first * axis.stride[0], y, op);
  });
}

constexpr int64_t max_pieces = 16, max_result = 512;

// Divides the first axis, a reduced one, among the threads. The result has `size` elements.
template <class Op>
void reduce_pieces(const ReducedAxes& axes, int64_t size, const real* from, real* to, Op op) {
  const int64_t length = axes.axis[0].length, stride = axes.axis[0].stride[0];
  const int64_t piece = std::max(chunk_rows(stride), (length + max_pieces - 1) / max_pieces);
  std::array<real, max_pieces * max_result> results;
  std::fill_n(results.data(), (length + piece - 1) / piece * size, Op::identity);
  parallel_for(length, piece, [&](int64_t first, int64_t last) {
    reduce_part(axes, 0, last - first, from + first * stride, &results[first / piece * size], op);
  });
  for (int64_t first = 0; first < length; first += piece)
    reduce_rows(1, size, 0, &results[first / piece * size], to, op);
}

template <class Op>
void reduce_to(const real* from, const Shape& shape, const Shape& target, Destination to, Op op) {
  if (scope().shapes_only) return;
  const ReducedAxes axes = broadcast_axes(shape, shape, target);
  const int64_t size = target.size();
  const bool empty = shape.size() == 0;
  if (axes.count == 0 || empty || (!kept(axes.axis[0]) && size <= max_result)) {
    if (!to.accumulate) std::fill_n(to.data, size, Op::identity);
    if (axes.count == 0)
      *to.data = op(*to.data, *from);
    else if (!empty)
      reduce_pieces(axes, size, from, to.data, op);
  } else if (kept(axes.axis[0])) {
    reduce_kept_axis(axes, 0, chunk_rows(axes.axis[0].stride[0]), from, to, op);
  } else {  // strips of columns, each at least a few cache lines wide
    const int64_t work = axes.axis[0].length * axes.axis[1].stride[0];
    const int64_t strip = axes.axis[1].stride[0] == 1 ? 64 : 1;
    reduce_kept_axis(axes, 1, std::max(strip, chunk_rows(work)), from, to, op);
  }
}

}  // namespace

void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to) {
  reduce_to(from, shape, target, to, Sum{});
}

void max_to(const real* from, const Shape& shape, const Shape& target, real* to) {
  reduce_to(from, shape, target, {to, false}, Max{});
}

}  // namespace heed::inline HEED_REAL::kernels
