#include <algorithm>
#include <cmath>

#include "core/kernels/kernels.h"
#include "core/kernels/map.h"
#include "core/kernels/scratch.h"
#include "core/kernels/simd/lanes.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

void layer_norm_forward(const Rows& sizes, real epsilon, const real* x, const real* weight,
                        const real* bias, real* y, real* mean, real* scale) {
  const int64_t width = sizes.width;
  for_each_row(sizes.rows, width, [=](int64_t n) {
    const real count = static_cast<real>(width);
    const real* row = x + n * width;
    const real m = row_sum(width, row) / count;
    const real variance = sum_of_squares(
                              width, [=](Vector v) { return v - m; }, row) /
                          count;
    const real s = 1 / std::sqrt(variance + epsilon);
    map_range(0, width, {y + n * width, false},
              [=](int64_t i) { return fma((row[i] - m) * s, weight[i], bias[i]); });
    mean[n] = m;
    scale[n] = s;
  });
}

void rms_norm_forward(const Rows& sizes, real epsilon, const real* x, const real* weight, real* y,
                      real* scale) {
  const int64_t width = sizes.width;
  for_each_row(sizes.rows, width, [=](int64_t n) {
    const real* row = x + n * width;
    const real s = 1 / std::sqrt(row_dot(width, row, row) / static_cast<real>(width) + epsilon);
    map_range(0, width, {y + n * width, false}, [=](int64_t i) { return row[i] * s * weight[i]; });
    scale[n] = s;
  });
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
      sum_hx = fma(h, part.load(x + i) - mean, sum_hx);
    });
  const real mean_h = centred ? sum(sum_h) / static_cast<real>(width) : real{0};
  const real mean_hx = scale * sum(sum_hx) / static_cast<real>(width);
  for_each_vector(width, [&](int64_t i, auto part) {
    const Vector gradient = part.load(g + i);
    if (db) part.store(db + i, part.load(db + i) + gradient);
    if (!dx.data && !dw) return;
    const Vector normal = (part.load(x + i) - mean) * scale;
    if (dw) part.store(dw + i, fma(gradient, normal, part.load(dw + i)));
    if (!dx.data) return;
    const Vector h = fma(gradient, part.load(weight + i), broadcast(-mean_h));
    const Vector result = scale * fma(-normal, broadcast(mean_hx), h);
    part.store(dx.data + i, dx.accumulate ? part.load(dx.data + i) + result : result);
  });
}

// The sums over rows, of dweight and dbias, are computed in pieces that depend only on the shape.
template <bool centred>
void backward_of(const Rows& sizes, const NormBackwardInputs& in, const NormGradients& to) {
  constexpr int64_t max_pieces = 64;
  const int64_t rows = sizes.rows, width = sizes.width;
  const int64_t piece = std::max(chunk_rows(width), (rows + max_pieces - 1) / max_pieces);
  const int64_t pieces = (rows + piece - 1) / piece;
  const Scratch dw_pieces(to.dweight.data ? pieces * width : 0),
      db_pieces(to.dbias.data ? pieces * width : 0);
  real* const dw_data = to.dweight.data ? dw_pieces.data() : nullptr;
  real* const db_data = to.dbias.data ? db_pieces.data() : nullptr;
  parallel_for(rows, piece, [=, dx = to.dx](int64_t first, int64_t last) {
    real* dw = dw_data ? dw_data + first / piece * width : nullptr;
    real* db = db_data ? db_data + first / piece * width : nullptr;
    if (dw) std::fill_n(dw, width, real{0});
    if (db) std::fill_n(db, width, real{0});
    for (int64_t n = first; n < last; ++n) {
      const auto row = [=](auto* x) { return x ? x + n * width : nullptr; };
      norm_backward_row<centred>(width, row(in.dy), row(in.x), in.weight,
                                 centred ? in.mean[n] : real{0}, in.scale ? in.scale[n] : real{0},
                                 {row(dx.data), dx.accumulate}, dw, db);
    }
  });
  if (dw_data) sum_to(dw_data, {pieces, width}, {width}, to.dweight);
  if (db_data) sum_to(db_data, {pieces, width}, {width}, to.dbias);
}

}  // namespace

void norm_forward(const Rows& sizes, real epsilon, const real* x, const real* weight,
                  const real* bias, real* y, real* mean, real* scale) {
  if (mean)
    layer_norm_forward(sizes, epsilon, x, weight, bias, y, mean, scale);
  else
    rms_norm_forward(sizes, epsilon, x, weight, y, scale);
}

void norm_backward(const Rows& n, const NormBackwardInputs& in, const NormGradients& to) {
  if (in.mean)
    backward_of<true>(n, in, to);
  else
    backward_of<false>(n, in, to);
}

}  // namespace heed::inline HEED_REAL::kernels
