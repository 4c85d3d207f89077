// Loops over numbers at the same place of several arrays, and over arrays that broadcast.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "core/destination.h"
#include "core/parallel.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// to[i] = value(i), first ≤ i < last, on the calling thread. `value` without branches and calls,
// and reading only what is not written here, so that the loop becomes vector instructions.
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

// The same for 0 ≤ i < n on all threads.
template <class Value>
void map(int64_t n, Destination to, Value value) {
  parallel_for(n, chunk_elements,
               [=](int64_t first, int64_t last) { map_range(first, last, to, value); });
}

// A dense array of a shape that broadcasts to another.
template <class T>
struct Operand {
  const T* data;
  Shape shape;
};

// How several dense arrays broadcast to one shape: as rows, along each of which every array either
// runs or stands still. Axes that can be walked in one go are merged, so that arrays of equal shape
// are one long row, and a matrix with a row vector is rows of the matrix's width.
class BroadcastRows {
 public:
  static constexpr size_t max_operands = 3;
  BroadcastRows(const Shape& whole, std::initializer_list<const Shape*> operands);

  int64_t rows() const { return rows_; }
  int64_t width() const { return axis_[0].length; }
  bool runs(size_t operand) const { return axis_[0].stride[operand] != 0; }
  // Where the operand stands at the start of a row.
  int64_t offset(size_t operand, int64_t row) const {
    int64_t at = 0;
    for (size_t a = 1; a + 1 < axes_; ++a) {
      at += row % axis_[a].length * axis_[a].stride[operand];
      row /= axis_[a].length;
    }
    return axes_ == 1 ? 0 : at + row * axis_[axes_ - 1].stride[operand];
  }

 private:
  struct Axis {
    int64_t length = 1;
    std::array<int64_t, max_operands> stride{};  // 0 where the operand is repeated
  };
  std::array<Axis, Shape::max_rank> axis_{};  // merged, the innermost first
  size_t axes_ = 1;
  int64_t rows_ = 1;
};

namespace detail {

// Reads an operand along a row.
template <class T>
struct Running {
  const T* x;
  T operator()(int64_t i) const { return x[i]; }
};
template <class T>
struct Standing {
  T x;
  T operator()(int64_t) const { return x; }
};

template <class T>
struct RowOperand {
  const T* x;
  bool runs;
};

// Calls use(reader…) with the right reader for each operand.
template <class Use>
inline void with_readers(Use use) {
  use();
}
template <class Use, class T, class... Rest>
inline void with_readers(Use use, RowOperand<T> operand, Rest... rest) {
  if (operand.runs)
    with_readers([&](auto... later) { use(Running<T>{operand.x}, later...); }, rest...);
  else
    with_readers([&](auto... later) { use(Standing<T>{*operand.x}, later...); }, rest...);
}

}  // namespace detail

// to[i…] = f(x[i…]…), for arrays that broadcast to the shape `whole`.
template <class F, class... T>
void map_broadcast(const Shape& whole, Destination to, F f, const Operand<T>&... x) {
  if (whole.size() == 0) return;
  const BroadcastRows plan(whole, {&x.shape...});
  const int64_t width = plan.width(), piece = std::min(width, chunk_elements);
  const int64_t pieces = (width + piece - 1) / piece;  // of each row
  const auto map_piece = [&]<size_t... k>(int64_t i, std::index_sequence<k...>) {
    const int64_t row = pieces == 1 ? i : i / pieces, first = (i - row * pieces) * piece;
    const Destination here{to.data + row * width, to.accumulate};
    detail::with_readers(
        [&](auto... read) {
          map_range(first, std::min(width, first + piece), here,
                    [=](int64_t j) { return f(read(j)...); });
        },
        detail::RowOperand<T>{x.data + plan.offset(k, row), plan.runs(k)}...);
  };
  parallel_for(plan.rows() * pieces, chunk_rows(piece), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) map_piece(i, std::index_sequence_for<T...>());
  });
}

}  // namespace heed::inline HEED_REAL::kernels
