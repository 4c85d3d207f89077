#include "core/kernels/broadcast.h"

#include <algorithm>
#include <array>

#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void copy(int64_t n, const real* from, Destination to) {
  parallel_for(n, 1 << 15, [=](int64_t first, int64_t last) {
    const real* __restrict x = from;
    real* __restrict y = to.data;
    if (to.accumulate)
      for (int64_t i = first; i < last; ++i) y[i] += x[i];
    else
      std::copy(x + first, x + last, y + first);
  });
}

void repeat(int64_t rows, int64_t width, const real* row, real* to) {
  parallel_for(rows, 1 + (1 << 15) / std::max<int64_t>(1, width), [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) std::copy(row, row + width, to + i * width);
  });
}

void sum_to(const real* from, const Shape& shape, const Shape& target, Destination to) {
  // Each axis of `shape` either stays or is summed away. stride[a]: how far one step along it moves
  // in the target, 0 where it is summed.
  const int rank = shape.rank(), offset = rank - target.rank();
  std::array<int64_t, Shape::max_rank> stride{}, index{};
  for (int64_t a = target.rank() - 1, step = 1; a >= 0; --a) {
    const int axis = static_cast<int>(a);
    stride[static_cast<size_t>(axis + offset)] = target[axis] == 1 ? 0 : step;
    step *= target[axis];
  }
  if (!to.accumulate) std::fill_n(to.data, target.size(), real{0});
  if (shape.size() == 0) return;
  const int64_t width = rank ? shape[-1] : 1;
  const bool last_stays = rank && stride[static_cast<size_t>(rank - 1)] != 0;
  int64_t at = 0;
  for (int64_t row = 0; row < shape.size() / width; ++row) {
    const real* __restrict x = from + row * width;
    real* __restrict y = to.data + at;
    if (last_stays) {
      for (int64_t i = 0; i < width; ++i) y[i] += x[i];
    } else {
      real total = 0;
      for (int64_t i = 0; i < width; ++i) total += x[i];
      *y += total;
    }
    for (int a = rank - 2; a >= 0; --a) {  // to the next row, like an odometer
      const size_t axis = static_cast<size_t>(a);
      at += stride[axis];
      if (++index[axis] < shape[a]) break;
      at -= stride[axis] * shape[a];
      index[axis] = 0;
    }
  }
}

}  // namespace heed::inline HEED_REAL::kernels
