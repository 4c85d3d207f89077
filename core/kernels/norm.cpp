#include "core/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/map.h"
#include "core/kernels/simd/lanes.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {

void layer_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x,
                        const real* weight, const real* bias, real* y, real* mean, real* scale) {
  for_each_row(rows, width, [=](int64_t n) {
    const real count = static_cast<real>(width);
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
  });
}

void rms_norm_forward(int64_t rows, int64_t width, real epsilon, const real* x, const real* weight,
                      real* y, real* scale) {
  for_each_row(rows, width, [=](int64_t n) {
    const real* row = x + n * width;
    const real s = 1 / std::sqrt(row_dot(width, row, row) / static_cast<real>(width) + epsilon);
    map_range(0, width, {y + n * width, false}, [=](int64_t i) { return row[i] * s * weight[i]; });
    scale[n] = s;
  });
}

namespace {

int64_t piece_rows(int64_t rows, int64_t width) {
  constexpr int64_t max_pieces = 64;
  return std::max(chunk_rows(width), (rows + max_pieces - 1) / max_pieces);
}

// The backward pass of one row: with x̂ = (x - mean) · scale and g = dy,
//   dx = scale · (g w - mean(g w) - x̂ mean(g w x̂)),   dw += g x̂,   db += g
// Without `centred` (RMS norm) mean and mean(g w) are 0. Gradients that are null are not computed.
template <bool centred>
void norm_backward_row(int64_t width, const real* g, const real* x, const real* weight, real mean,
                       real scale, Destination dx, real* dw, real* db) {
  Vector sum_h{}, sum_hx{};
  if (dx.data)
    for_each_vector(width, [&](int64_t i, auto part) {
      const Vector h = part.load(g + i) * part.load(weight + i);
      sum_h += h;
      sum_hx += h * (part.load(x + i) - mean);
    });
  const real mean_h = centred ? sum(sum_h) / static_cast<real>(width) : real{0};
  const real mean_hx = scale * sum(sum_hx) / static_cast<real>(width);
  for_each_vector(width, [&](int64_t i, auto part) {
    const Vector gradient = part.load(g + i);
    if (db) part.store(db + i, part.load(db + i) + gradient);
    if (!dx.data && !dw) return;
    const Vector normal = (part.load(x + i) - mean) * scale;
    if (dw) part.store(dw + i, part.load(dw + i) + gradient * normal);
    if (!dx.data) return;
    const Vector result = scale * (gradient * part.load(weight + i) - mean_h - normal * mean_hx);
    part.store(dx.data + i, dx.accumulate ? part.load(dx.data + i) + result : result);
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
      const auto row = [=](auto* rows_of) { return rows_of ? rows_of + n * width : nullptr; };
      norm_backward_row<centred>(width, row(dy), row(x), weight, mean ? mean[n] : real{0},
                                 scale ? scale[n] : real{0}, {row(dx.data), dx.accumulate},
                                 piece_dw, piece_db);
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
