#include <algorithm>

#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/parallel_for.h"

namespace heed::inline HEED_REAL::kernels {

// The axes of the result of permute(), with the strides of `from` and of the result.
static Axes<2> permuted_axes(const Shape& shape, std::span<const int> axes) {
  Axes<2> result;
  int64_t size = shape.size();
  for (const int a : axes) {
    size /= shape[a];
    result.add(shape[a], {shape.span_size(a + 1, shape.rank()), size});
  }
  return result;
}

static void copy_row(int64_t n, const real* __restrict x, Destination to) {
  map_range(0, n, to, [=](int64_t i) { return x[i]; });
}

void fill(int64_t n, real value, real* to) {
  parallel_for(n, chunk_elements,
               [=](int64_t first, int64_t last) { std::fill(to + first, to + last, value); });
}

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

void copy_rows(int64_t rows, int64_t width, const real* from, int64_t from_step, Destination to,
               int64_t to_step) {
  for_each_row(rows, width, [=](int64_t i) {
    copy_row(width, from + i * from_step, {to.data + i * to_step, to.accumulate});
  });
}

void zero_rows(int64_t rows, int64_t width, real* to, int64_t step) {
  for_each_row(rows, width, [=](int64_t i) { std::fill_n(to + i * step, width, real{0}); });
}

void permute(const real* from, const Shape& shape, std::span<const int> axes, Destination to) {
  if (shape.size() == 0) return;
  Axes<2> outer = permuted_axes(shape, axes);
  const Axes<2>::Axis inner = take_last(outer);
  const int64_t length = inner.length, step = inner.stride[0];
  if (step == 1) {  // the last axis stays last: copy rows
    for_each_row(outer.size(), length, [=](int64_t i) {
      const auto [x, y] = outer.offsets(i);
      copy_row(length, from + x, {to.data + y, to.accumulate});
    });
    return;
  }
  // Another axis is contiguous in `from`: with the last one it forms matrices to transpose, in
  // tiles.
  size_t contiguous = 0;
  while (outer.axis[contiguous].stride[0] != 1) ++contiguous;
  const Axes<2>::Axis rows = take(outer, contiguous);
  constexpr int64_t tile = 32;
  const int64_t strips = (rows.length + tile - 1) / tile;
  const auto transpose_strip = [=](int64_t strip, const real* x, real* y) {
    const int64_t row_end = std::min(rows.length, (strip + 1) * tile);
    for (int64_t c0 = 0; c0 < length; c0 += tile)
      for (int64_t r = strip * tile; r < row_end; ++r)
        map_range(c0, std::min(length, c0 + tile), {y + r * rows.stride[1], to.accumulate},
                  [=](int64_t c) { return x[r + c * step]; });
  };
  for_each_row(outer.size() * strips, tile * length, [=](int64_t i) {
    const auto [x, y] = outer.offsets(i / strips);
    transpose_strip(i % strips, from + x, to.data + y);
  });
}

void gather_rows(int64_t count, int64_t width, const int32_t* ids, const real* table,
                 Destination to) {
  for_each_row(count, width, [=](int64_t n) {
    const real* from = table + ids[n] * width;
    map_range(0, width, {to.data + n * width, to.accumulate}, [=](int64_t j) { return from[j]; });
  });
}

void scatter_rows(int64_t count, int64_t width, const int32_t* ids, const real* dy, int64_t rows,
                  Destination to) {
  if (!to.accumulate) zero_rows(rows, width, to.data, width);
  // Two ids may be equal, so columns, not rows, are divided among the threads.
  constexpr int64_t min_strip = 32;  // columns: two cache lines of floats
  const int64_t strip = std::max({min_strip, chunk_rows(count), (width + 7) / 8});
  parallel_for(width, strip, [=](int64_t first, int64_t last) {
    for (int64_t n = 0; n < count; ++n) {
      const real* g = dy + n * width;
      map_range(first, last, {to.data + ids[n] * width, true}, [=](int64_t j) { return g[j]; });
    }
  });
}

void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to) {
  const int64_t heads = shape[1], queries = shape[2], keys = shape[3];
  for_each_row(shape[0] * heads * queries, keys, [&](int64_t row) {
    const int64_t i = row % queries, h = row / queries % heads, b = row / queries / heads;
    const KeepMask::KeyRange visible = mask.keys_for(b, i, queries, keys);
    const int32_t* dense = mask.dense_row(b, h, i);
    const real* from = x + row * keys;
    const Destination out{to.data + row * keys, to.accumulate};
    const auto fill = [hidden](int64_t) { return hidden; };
    map_range(0, visible.first, out, fill);
    map_range(visible.last, keys, out, fill);
    if (dense)
      map_range(visible.first, visible.last, out,
                [=](int64_t j) { return dense[j] != 0 ? from[j] : hidden; });
    else
      map_range(visible.first, visible.last, out, [=](int64_t j) { return from[j]; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
