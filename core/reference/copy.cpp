// Fills, moves and looks up rows.
#include "core/reference/reference.h"

namespace heed::inline HEED_REAL::kernels {

void fill(int64_t n, real value, real* to) {
  for (int64_t i = 0; i < bound(n); ++i) to[i] = value;
}

// to[i] = from[i]
void copy(int64_t n, const real* from, Destination to) {
  for (int64_t i = 0; i < bound(n); ++i) write(to, i, from[i]);
}

void copy_rows(int64_t rows, int64_t width, const real* from, int64_t from_step, Destination to,
               int64_t to_step) {
  for (int64_t i = 0; i < bound(rows); ++i)
    copy(width, from + i * from_step, {to.data + i * to_step, to.accumulate});
}

void zero_rows(int64_t rows, int64_t width, real* to, int64_t step) {
  for (int64_t i = 0; i < bound(rows); ++i)
    for (int64_t j = 0; j < width; ++j) to[i * step + j] = 0;
}

// Index k of element i of the result is the index of `from` along axis axes[k].
void permute(const real* from, const Shape& shape, std::span<const int> axes, Destination to) {
  for (int64_t i = 0; i < bound(shape.size()); ++i) {
    int64_t rest = i, source = 0;
    for (size_t k = axes.size(); k-- > 0; rest /= shape[axes[k]])
      source += rest % shape[axes[k]] * shape.span_size(axes[k] + 1, shape.rank());
    write(to, i, from[source]);
  }
}

// to[n, :] = table[ids[n], :]
void gather_rows(int64_t count, int64_t width, const int32_t* ids, const real* table,
                 Destination to) {
  for (int64_t n = 0; n < bound(count); ++n)
    copy(width, table + ids[n] * width, {to.data + n * width, to.accumulate});
}

// to[ids[n], :] += dy[n, :]
void scatter_rows(int64_t count, int64_t width, const int32_t* ids, const real* dy, int64_t rows,
                  Destination to) {
  if (!to.accumulate) zero_rows(rows, width, to.data, width);
  for (int64_t n = 0; n < bound(count); ++n)
    copy(width, dy + n * width, {to.data + ids[n] * width, true});
}

// to[b, h, i, j] = x[b, h, i, j] if query i sees key j, else `hidden`
void fill_hidden(const Shape& shape, const KeepMask& mask, const real* x, real hidden,
                 Destination to) {
  const int64_t heads = shape[1], queries = shape[2], keys = shape[3];
  for (int64_t at = 0; at < bound(shape.size()); ++at) {
    const int64_t j = at % keys, i = at / keys % queries, head = at / keys / queries;
    const bool keeps = mask.keeps(head / heads, head % heads, i, j, queries, keys);
    write(to, at, keeps ? x[at] : hidden);
  }
}

}  // namespace heed::inline HEED_REAL::kernels
