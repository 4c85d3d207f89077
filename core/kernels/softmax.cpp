// Softmax and log softmax have two forms: for rows (inner = 1), reduced with vector instructions,
// and for other axes, where adjacent columns are processed at once.
#include <algorithm>
#include <cmath>

#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/kernels/simd/lanes.h"
#include "core/kernels/simd/vector_math.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// What is subtracted before exp: the maximum, but -inf - -inf would be NaN.
real shift_for(real maximum) { return maximum == -infinity ? 0 : maximum; }
// 1 / total and log total of a sum of exponentials, which is 0 if all elements are -inf.
real inverse_of(real total) { return total == 0 ? 0 : 1 / total; }
real log_of(real total) { return total == 0 ? 0 : std::log(total); }

// Calls row(offset) for each row, on all threads.
template <class Row>
void for_rows(const AlongAxis& n, Row row) {
  for_each_row(n.outer, n.length, [&](int64_t i) { row(i * n.length); });
}

// Adjacent columns are processed in blocks. Element k of column j of a block is x[k · inner + j].
constexpr int64_t column_block = 256;

// Calls block(offset, count) for each block of columns, on all threads.
template <class Block>
void for_columns(const AlongAxis& n, Block block) {
  const int64_t width = std::min(n.inner, column_block);
  const int64_t blocks = n.inner == 0 ? 0 : (n.inner + width - 1) / width;
  for_each_row(n.outer * blocks, n.length * width, [&](int64_t i) {
    const int64_t j = i % blocks * width;
    block(i / blocks * n.length * n.inner + j, std::min(width, n.inner - j));
  });
}

// Computes the shift of each column of a block.
void shift_columns(const AlongAxis& n, int64_t count, const real* x, real* __restrict shift) {
  std::fill_n(shift, count, -infinity);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j) shift[j] = std::max(shift[j], x[k * n.inner + j]);
  for (int64_t j = 0; j < count; ++j) shift[j] = shift_for(shift[j]);
}

void softmax_row(int64_t n, const real* __restrict x, real* __restrict y) {
  const real shift = shift_for(row_max(n, x));
  for (int64_t i = 0; i < n; ++i) y[i] = exp(x[i] - shift);
  const real inverse = inverse_of(row_sum(n, y));
  for (int64_t i = 0; i < n; ++i) y[i] *= inverse;
}

void softmax_columns(const AlongAxis& n, int64_t count, const real* x, real* __restrict y) {
  real shift[column_block], total[column_block] = {};
  shift_columns(n, count, x, shift);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j)
      total[j] += y[k * n.inner + j] = exp(x[k * n.inner + j] - shift[j]);
  for (int64_t j = 0; j < count; ++j) total[j] = inverse_of(total[j]);
  for (int64_t k = 0; k < n.length; ++k)
    for (int64_t j = 0; j < count; ++j) y[k * n.inner + j] *= total[j];
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

// dx = dy - eʸ Σ dy, or 0 if all elements are -inf
void log_softmax_backward(const AlongAxis& n, const real* dy, const real* y, Destination dx) {
  if (n.inner == 1) {
    for_rows(n, [=](int64_t at) {
      const real *g = dy + at, *l = y + at;
      const Destination to{dx.data + at, dx.accumulate};
      const real total = row_sum(n.length, g);
      if (row_max(n.length, l) == -infinity &&
          row_sum(n.length, l) == -infinity)  // and none is NaN
        map_range(0, n.length, to, [](int64_t) { return real{0}; });
      else
        map_range(0, n.length, to, [=](int64_t i) { return g[i] - exp(l[i]) * total; });
    });
    return;
  }
  for_columns(n, [=](int64_t at, int64_t count) {
    real total[column_block] = {}, factor[column_block] = {};  // factor: 0 if all are -inf, else 1
    const real *g = dy + at, *l = y + at;
    for (int64_t k = 0; k < n.length; ++k)
      for (int64_t j = 0; j < count; ++j) {
        total[j] += g[k * n.inner + j];
        factor[j] = l[k * n.inner + j] == -infinity ? factor[j] : 1;
      }
    for (int64_t k = 0; k < n.length; ++k) {
      const real *gk = g + k * n.inner, *lk = l + k * n.inner, *t = total, *f = factor;
      map_range(0, count, {dx.data + at + k * n.inner, dx.accumulate},
                [=](int64_t j) { return f[j] * (gk[j] - exp(lk[j]) * t[j]); });
    }
  });
}

void hardmax(const Rows& n, const real* x, real* y) {
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
    const real* from = x + i * width;
    const real maximum = row_max(width, from);
    const real ties = sum_of(width, [=](int64_t j) { return from[j] == maximum ? real{1} : 0; });
    const real share = maximum == -infinity ? 0 : 1 / ties;
    // NaN if any element is, else 0. (The maximum ignores NaN.)
    const real nan = sum_of(width, [=](int64_t j) { return from[j] == from[j] ? 0 : from[j]; });
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return nan + (from[j] == maximum ? share : 0); });
  });
}

void sum_normalize_forward(const Rows& n, real least, const real* x, real* y, real* sums) {
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
    const real* from = x + i * width;
    const real sum = row_sum(width, from);
    const bool none = sum <= least;  // false for NaN, which so stays NaN
    sums[i] = none ? 0 : sum;
    map_range(0, width, {y + i * width, false},
              [=](int64_t j) { return none ? 0 : from[j] / sum; });
  });
}

void sum_normalize_backward(const Rows& n, const real* dy, const real* y, const real* sums,
                            Destination dx) {
  for_each_row(n.count, n.width, [=, width = n.width](int64_t i) {
    const real* g = dy + i * width;
    const real dot = row_dot(width, g, y + i * width), sum = sums[i];
    map_range(0, width, {dx.data + i * width, dx.accumulate},
              [=](int64_t j) { return sum == 0 ? 0 : (g[j] - dot) / sum; });
  });
}

}  // namespace heed::inline HEED_REAL::kernels
