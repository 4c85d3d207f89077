#include "core/kernels/linear.h"

#include <algorithm>

#include "core/kernels/activation.h"
#include "core/kernels/gemm/gemm.h"
#include "core/kernels/map.h"
#include "core/parallel.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// 256 KiB of float: a part of dw, and w, fit the second cache beside the rows of a block.
constexpr int64_t most_weights = int64_t{1} << 16;
// So many rows make a product worth its start, and adding up the parts cheap beside it.
constexpr int64_t fewest_rows = 128, most_blocks = 8;

// to[j] = Σₙ rows[n, j]
void sum_columns(int64_t rows, int64_t width, const real* from, real* __restrict to) {
  std::fill_n(to, width, real{0});
  for (int64_t n = 0; n < rows; ++n)
    map_range(0, width, {to, true}, [row = from + n * width](int64_t j) { return row[j]; });
}

// dw and db = Σ parts, each of which has that of dw first.
void add_up(int64_t weights, int64_t biases, int64_t parts, const real* from, Destination dw,
            Destination db) {
  const int64_t stride = weights + biases;
  const auto add = [=](Destination to, int64_t first, int64_t last, const real* part) {
    for (int64_t i = 0; to.data && i < parts; ++i)
      map_range(first, last, {to.data, to.accumulate || i > 0},
                [row = part + i * stride](int64_t j) { return row[j]; });
  };
  parallel_for(stride, chunk_elements / 4, [=](int64_t first, int64_t last) {
    if (first < weights) add(dw, first, std::min(last, weights), from);
    if (last > weights)
      add(db, std::max<int64_t>(0, first - weights), last - weights, from + weights);
  });
}

}  // namespace

bool LinearSizes::by_blocks() const {
  return inputs * outputs <= most_weights && rows >= 2 * fewest_rows;
}

int64_t LinearSizes::block_rows() const {
  int64_t blocks = 1;  // a power of two, so that as many threads have the same to do
  while (blocks < most_blocks && rows >= 2 * blocks * fewest_rows) blocks *= 2;
  return (rows + blocks - 1) / blocks;
}

int64_t LinearSizes::scratch(Activation function) const {
  return blocks() * (inputs + 1) * outputs + (function == Activation::none ? 0 : rows * outputs);
}

void linear_backward(const LinearSizes& n, Activation function, const real* dy, const real* kept,
                     const real* x, const real* w, Destination dx, Destination dw, Destination db,
                     real* scratch, Precision precision) {
  const int64_t weights = n.outputs * n.inputs, part = weights + n.outputs;
  real* const dh_rows = scratch + n.blocks() * part;
  parallel_for(n.rows, n.block_rows(), [=](int64_t first, int64_t last) {
    const int64_t rows = last - first, at = first * n.outputs;
    const real* dh = dy + at;
    if (function != Activation::none) {
      activate_backward(function, rows * n.outputs, dh, kept + at, dh_rows + at);
      dh = dh_rows + at;
    }
    const Matrix m(dh, rows, n.outputs);
    real* const own = scratch + first / n.block_rows() * part;
    if (dx.data)
      gemm_serial(m, {w, n.outputs, n.inputs}, {dx.data + first * n.inputs, dx.accumulate}, 0, 1,
                  nullptr, precision);
    if (dw.data)
      gemm_serial(m.t(), {x + first * n.inputs, rows, n.inputs}, {own, false}, 0, 1, nullptr,
                  precision);
    if (db.data) sum_columns(rows, n.outputs, dh, own + weights);
  });
  add_up(weights, n.outputs, n.blocks(), scratch, dw, db);
}

}  // namespace heed::inline HEED_REAL::kernels
