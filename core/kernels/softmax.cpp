// Two forms of each: along rows (inner = 1), where a row is folded by the vector unit, and along
// any other axis, where it works on neighbouring columns at once.
#include "core/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/map.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// What is taken away before exp: -inf - -inf would be NaN.
real shift_for(real greatest) { return greatest == -infinity ? 0 : greatest; }
// 1 / Σ exp and log Σ exp; the sum is 0 where all is -inf, and then does not matter.
real share_of(real total) { return total == 0 ? 0 : 1 / total; }
real log_of(real total) { return total == 0 ? 0 : std::log(total); }

// Calls row(offset) for each row, on all threads.
template <class Row>
void for_rows(const AlongAxis& n, Row row) {
  parallel_for(n.outer, chunk_rows(n.length), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) row(i * n.length);
  });
}

// Columns that lie side by side, a block of them for a thread: element k of column j is
// x[k · inner + j].
constexpr int64_t column_block = 256;

// Calls block(offset, count) for each block of columns.
template <class Block>
void for_columns(const AlongAxis& n, Block block) {
  const int64_t width = std::min(n.inner, column_block);
  const int64_t blocks = n.inner == 0 ? 0 : (n.inner + width - 1) / width;
  parallel_for(n.outer * blocks, chunk_rows(n.length * width), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t j = i % blocks * width;
      block(i / blocks * n.length * n.inner + j, std::min(width, n.inner - j));
    }
  });
}

// shift[j] for a block of columns.
void shift_columns(const AlongAxis& n, int64_t count, const real* x, real* __restrict shift) {
  std::fill_n(shift, count, -infinity);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j) shift[j] = std::max(shift[j], x[k * n.inner + j]);
  for (int64_t j = 0; j < count; ++j) shift[j] = shift_for(shift[j]);
}

void softmax_row(int64_t n, const real* __restrict x, real* __restrict y) {
  const real shift = shift_for(row_max(n, x));
  for (int64_t i = 0; i < n; ++i) y[i] = exp(x[i] - shift);
  const real share = share_of(row_sum(n, y));
  for (int64_t i = 0; i < n; ++i) y[i] *= share;
}

void softmax_columns(const AlongAxis& n, int64_t count, const real* x, real* __restrict y) {
  real shift[column_block], share[column_block] = {};
  shift_columns(n, count, x, shift);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j)
      share[j] += y[k * n.inner + j] = exp(x[k * n.inner + j] - shift[j]);
  for (int64_t j = 0; j < count; ++j) share[j] = share_of(share[j]);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j) y[k * n.inner + j] *= share[j];
}

void log_softmax_row(int64_t n, const real* __restrict x, real* __restrict y) {
  const real shift = shift_for(row_max(n, x));
  const real log_total = log_of(sum_of(n, [=](int64_t i) { return exp(x[i] - shift); }));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - shift - log_total;
}

void log_softmax_columns(const AlongAxis& n, int64_t count, const real* x, real* __restrict y) {
  real shift[column_block], log_total[column_block] = {};
  shift_columns(n, count, x, shift);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j) log_total[j] += exp(x[k * n.inner + j] - shift[j]);
  for (int64_t j = 0; j < count; ++j) log_total[j] = log_of(log_total[j]);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j)
      y[k * n.inner + j] = x[k * n.inner + j] - shift[j] - log_total[j];
}

}  // namespace

void softmax_forward(const AlongAxis& n, const real* x, real* y) {
  if (n.inner == 1)
    for_rows(n, [=](int64_t at) { softmax_row(n.length, x + at, y + at); });
  else
    for_columns(n, [=](int64_t at, int64_t count) { softmax_columns(n, count, x + at, y + at); });
}

void log_softmax_forward(const AlongAxis& n, const real* x, real* y) {
  if (n.inner == 1)
    for_rows(n, [=](int64_t at) { log_softmax_row(n.length, x + at, y + at); });
  else
    for_columns(n,
                [=](int64_t at, int64_t count) { log_softmax_columns(n, count, x + at, y + at); });
}

// dx = y (dy - Σ dy y)
void softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx) {
  if (n.inner == 1) {
    for_rows(n, [=](int64_t at) {
      const real *g = dy + at, *p = y + at;
      const real dot = row_dot(n.length, g, p);
      map_range(0, n.length, {dx.data + at, dx.accumulate},
                [=](int64_t i) { return p[i] * (g[i] - dot); });
    });
    return;
  }
  for_columns(n, [=](int64_t at, int64_t count) {
    real dot[column_block] = {};
    const real *g = dy + at, *p = y + at;
    for (int64_t k = 0; k < n.length; ++k)
      for (int64_t j = 0; j < count; ++j) dot[j] += g[k * n.inner + j] * p[k * n.inner + j];
    for (int64_t k = 0; k < n.length; ++k) {
      const real *gk = g + k * n.inner, *pk = p + k * n.inner, *d = dot;
      map_range(0, count, {dx.data + at + k * n.inner, dx.accumulate},
                [=](int64_t j) { return pk[j] * (gk[j] - d[j]); });
    }
  });
}

// dx = dy - eʸ Σ dy; zero where all is -inf
void log_softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx) {
  if (n.inner == 1) {
    for_rows(n, [=](int64_t at) {
      const real *g = dy + at, *l = y + at;
      const Destination to{dx.data + at, dx.accumulate};
      const real total = row_sum(n.length, g);
      if (row_max(n.length, l) == -infinity && row_sum(n.length, l) == -infinity)  // and no NaN
        map_range(0, n.length, to, [](int64_t) { return real{0}; });
      else
        map_range(0, n.length, to, [=](int64_t i) { return g[i] - exp(l[i]) * total; });
    });
    return;
  }
  for_columns(n, [=](int64_t at, int64_t count) {
    real total[column_block] = {}, open[column_block] = {};  // open: 0 where all is -inf, else 1
    const real *g = dy + at, *l = y + at;
    for (int64_t k = 0; k < n.length; ++k)
      for (int64_t j = 0; j < count; ++j) {
        total[j] += g[k * n.inner + j];
        open[j] = l[k * n.inner + j] == -infinity ? open[j] : 1;
      }
    for (int64_t k = 0; k < n.length; ++k) {
      const real *gk = g + k * n.inner, *lk = l + k * n.inner, *t = total, *o = open;
      map_range(0, count, {dx.data + at + k * n.inner, dx.accumulate},
                [=](int64_t j) { return o[j] * (gk[j] - exp(lk[j]) * t[j]); });
    }
  });
}

}  // namespace heed::inline HEED_REAL::kernels
