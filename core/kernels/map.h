// Elementwise loops: over arrays of one length, over arrays that broadcast to one shape, and over
// rows.
#pragma once

#include <algorithm>
#include <utility>

#include "core/kernels/axes.h"
#include "core/kernels/kernels.h"
#include "core/parallel_for.h"
#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = value(i), first ≤ i < last, on the calling thread. For the loop to be vectorized `value`
// must have no branches or calls, and must read nothing that the loop writes.
template <class Value>
inline void map_range(int64_t first, int64_t last, Destination to, Value value) {
  real* __restrict y = to.data;
  if (to.accumulate) {
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) y[i] += value(i);
  } else {
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) y[i] = value(i);
  }
}

// The same for 0 ≤ i < n, on all threads.
template <class Value>
void map(int64_t n, Destination to, Value value) {
  parallel_for(n, chunk_elements,
               [=](int64_t first, int64_t last) { map_range(first, last, to, value); });
}

// Calls f(row) for each of `rows` rows of `width` elements, on all threads.
template <class F>
void for_each_row(int64_t rows, int64_t width, F f) {
  parallel_for(rows, chunk_rows(width), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) f(row);
  });
}

// Removes axis k of a loop and returns it.
template <size_t arrays>
typename Axes<arrays>::Axis take(Axes<arrays>& axes, size_t k) {
  const auto taken = axes.axis[k];
  for (--axes.count; k < axes.count; ++k) axes.axis[k] = axes.axis[k + 1];
  return taken;
}
// Removes the innermost axis and returns it: one of length 1 if there is none.
template <size_t arrays>
typename Axes<arrays>::Axis take_last(Axes<arrays>& axes) {
  if (axes.count > 0) return take(axes, axes.count - 1);
  typename Axes<arrays>::Axis single{1, {}};
  single.stride.fill(1);
  return single;
}

namespace detail {

// Reads element i of an operand along a row.
template <class T>
struct Varying {
  const T* x;
  T operator()(int64_t i) const { return x[i]; }
};
template <class T>
struct Constant {
  T x;
  T operator()(int64_t) const { return x; }
};

template <class T>
struct RowOperand {
  const T* x;
  bool varies;
};

// Calls use(reader…) with a Varying or a Constant for each operand.
template <class Use>
inline void with_readers(Use use) {
  use();
}
template <class Use, class T, class... Rest>
inline void with_readers(Use use, RowOperand<T> operand, Rest... rest) {
  if (operand.varies)
    with_readers([&](auto... later) { use(Varying<T>{operand.x}, later...); }, rest...);
  else
    with_readers([&](auto... later) { use(Constant<T>{*operand.x}, later...); }, rest...);
}

}  // namespace detail

// to[i] = f(x[i]…) for every index i of `whole`, the shape that the arrays x broadcast to. The
// innermost axis forms rows, along which each array either varies, with stride 1, or is constant.
// Arrays of equal shape form one long row; a matrix and a row vector form the rows of the matrix.
template <class F, class... T>
void map_broadcast(const Shape& whole, Destination to, F f, const Operand<T>&... x) {
  if (whole.size() == 0) return;
  auto rows = broadcast_axes(whole, x.shape...);
  const auto inner = take_last(rows);
  const int64_t width = inner.length, piece = std::min(width, chunk_elements);
  const int64_t pieces = (width + piece - 1) / piece;  // of each row
  const auto map_piece = [&]<size_t... k>(int64_t i, std::index_sequence<k...>) {
    const int64_t row = pieces == 1 ? i : i / pieces, first = (i - row * pieces) * piece;
    const Destination here{to.data + row * width, to.accumulate};
    const auto at = rows.offsets(row);
    detail::with_readers(
        [&](auto... read) {
          map_range(first, std::min(width, first + piece), here,
                    [=](int64_t j) { return f(read(j)...); });
        },
        detail::RowOperand<T>{x.data + at[k], inner.stride[k] != 0}...);
  };
  parallel_for(rows.size() * pieces, chunk_rows(piece), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) map_piece(i, std::index_sequence_for<T...>());
  });
}

}  // namespace heed::inline HEED_REAL::kernels
