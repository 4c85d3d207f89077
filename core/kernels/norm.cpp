#include "core/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/lanes.h"
#include "core/kernels/map.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void layer_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x,
                        const real* weight, const real* bias, real* y, real* mean, real* scale) {
  parallel_for(rows, chunk_rows(width), [=](int64_t first, int64_t last) {
    const real count = static_cast<real>(width);
    for (int64_t n = first; n < last; ++n) {
      const real* row = x + n * width;
      const real m = row_sum(width, row) / count;
      const real variance = sum_of_rows(
                                width, [=](Vector v) { return (v - m) * (v - m); }, row) /
                            count;
      const real s = 1 / std::sqrt(variance + epsilon);
      map_range(0, width, {y + n * width, false},
                [=](int64_t i) { return (row[i] - m) * s * weight[i] + bias[i]; });
      mean[n] = m;
      scale[n] = s;
    }
  });
}

void rms_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x, const real* weight,
                      real* y, real* scale) {
  parallel_for(rows, chunk_rows(width), [=](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      const real* row = x + n * width;
      const real s = 1 / std::sqrt(row_dot(width, row, row) / static_cast<real>(width) + epsilon);
      map_range(0, width, {y + n * width, false},
                [=](int64_t i) { return row[i] * s * weight[i]; });
      scale[n] = s;
    }
  });
}

namespace {

constexpr int64_t most_pieces = 64;

int64_t piece_rows(int64_t rows, int64_t width) {
  return std::max(chunk_rows(width), (rows + most_pieces - 1) / most_pieces);
}

// One row of dx. `centred`: the mean was taken away.
template <bool centred>
void norm_backward_row(int64_t width, const real* __restrict dy, const real* __restrict x,
                       const real* __restrict weight, real mean, real scale, Destination dx) {
  const real sum_h = centred ? row_dot(width, dy, weight) : real{0};
  const real sum_hx = sum_of_rows(
      width, [=](Vector g, Vector w, Vector v) { return g * w * ((v - mean) * scale); }, dy, weight,
      x);
  const real mean_h = sum_h / static_cast<real>(width);
  const real mean_hx = sum_hx / static_cast<real>(width);
  map_range(0, width, dx, [=](int64_t i) {
    return scale * (dy[i] * weight[i] - mean_h - (x[i] - mean) * scale * mean_hx);
  });
}

template <bool centred>
void norm_backward(int64_t rows, int64_t width, const real* dy, const real* x, const real* weight,
                   const real* mean, const real* scale, Destination dx, real* dw, real* db) {
  const int64_t piece = piece_rows(rows, width);
  parallel_for(rows, piece, [=](int64_t first, int64_t last) {
    real* piece_dw = dw ? dw + first / piece * width : nullptr;
    real* piece_db = db ? db + first / piece * width : nullptr;
    if (dw) std::fill_n(piece_dw, width, real{0});
    if (db) std::fill_n(piece_db, width, real{0});
    for (int64_t n = first; n < last; ++n) {
      const real *g = dy + n * width, *row = x + n * width;
      const real m = mean ? mean[n] : real{0}, s = scale ? scale[n] : real{0};
      if (dx.data)
        norm_backward_row<centred>(width, g, row, weight, m, s,
                                   {dx.data + n * width, dx.accumulate});
      if (dw)
        map_range(0, width, {piece_dw, true}, [=](int64_t i) { return g[i] * ((row[i] - m) * s); });
      if (db) map_range(0, width, {piece_db, true}, [=](int64_t i) { return g[i]; });
    }
  });
}

}  // namespace

int64_t norm_pieces(int64_t rows, int64_t width) {
  const int64_t piece = piece_rows(rows, width);
  return (rows + piece - 1) / piece;
}

void layer_norm_backward(int64_t rows, int64_t width, const real* dy, const real* x,
                         const real* weight, const real* mean, const real* scale, Destination dx,
                         real* dw, real* db) {
  norm_backward<true>(rows, width, dy, x, weight, mean, scale, dx, dw, db);
}

void rms_norm_backward(int64_t rows, int64_t width, const real* dy, const real* x,
                       const real* weight, const real* scale, Destination dx, real* dw) {
  norm_backward<false>(rows, width, dy, x, weight, nullptr, scale, dx, dw, nullptr);
}

}  // namespace heed::inline HEED_REAL::kernels
