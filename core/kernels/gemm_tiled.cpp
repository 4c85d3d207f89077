#include "core/kernels/gemm_tiled.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/kernels/vector.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// Sums fill all registers but those for two vectors of the panel and one number of a.
constexpr int most_rows = vector_registers == 32 ? 12 : 6;
constexpr int panel_vectors = 2, panel_columns = panel_vectors * lanes;
// A panel of 256 rows takes 32 KiB: it stays in the first cache, for all the rows of a.
constexpr int64_t depth = 256;
// For so few rows of a it does not pay to copy a panel whose rows are whole vectors already.
constexpr int64_t few_rows = 8 * most_rows;

// How a tile of c is written: over what is there or added to it.
struct Tile {
  real* c;
  int64_t leading;
  int64_t last;      // columns that its last vector has: up to `lanes`
  const real* bias;  // added to every row; null for none
  real scale;
  bool accumulate;
};

// rows × vectors of c: element (i, p) of a is at a[i · leading_a + p], or a[p · leading_a + i] with
// `transposed`; row p of the panel at panel[p · leading_panel].
template <int rows, int vectors, bool transposed>
void multiply(int64_t k, const real* __restrict a, int64_t leading_a, const real* __restrict panel,
              int64_t leading_panel, const Tile& tile) {
  Vector sum[rows][vectors] = {};
  for (int i = 0; i < rows; ++i) __builtin_prefetch(tile.c + i * tile.leading, 1);
  for (int64_t p = 0; p < k; ++p) {
    Vector b[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + p * leading_panel + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const real x = transposed ? a[p * leading_a + i] : a[i * leading_a + p];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] += x * b[v];
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < vectors; ++v) {
    const int64_t count = v + 1 < vectors ? lanes : tile.last;
    const Vector bias = tile.bias ? load_some(tile.bias + v * lanes, count) : Vector{};
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      real* to = tile.c + i * tile.leading + v * lanes;
      const Vector here = sum[i][v] * tile.scale + bias;
      if (count == lanes)
        store(to, tile.accumulate ? load(to) + here : here);
      else
        store_some(to, tile.accumulate ? load_some(to, count) + here : here, count);
    }
  }
}

// multiply<rows, vectors, transposed> for every number of rows.
using Multiply = void (*)(int64_t, const real*, int64_t, const real*, int64_t, const Tile&);
template <int vectors, bool transposed, size_t... i>
constexpr std::array<Multiply, sizeof...(i)> by_rows(std::index_sequence<i...>) {
  return {multiply<static_cast<int>(i) + 1, vectors, transposed>...};
}
constexpr auto every_row = std::make_index_sequence<most_rows>();
constexpr std::array<Multiply, most_rows> multiply_table[panel_vectors][2] = {
    {by_rows<1, false>(every_row), by_rows<1, true>(every_row)},
    {by_rows<2, false>(every_row), by_rows<2, true>(every_row)}};

// One round of turning a square of vectors over: in each pair of rows that differ in bit `bit` of
// their number, what lies on the wrong side of the diagonal changes places.
template <int bit>
void exchange(Vector (&square)[lanes]) {
  VectorIndex low, high;  // which of the 2 · lanes numbers of a pair go where
  for (int j = 0; j < lanes; ++j) {
    low[j] = j & bit ? lanes + (j ^ bit) : j;
    high[j] = j & bit ? lanes + j : j ^ bit;
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i)
    if (!(i & bit)) {
      const Vector upper = square[i], lower = square[i | bit];
      square[i] = __builtin_shuffle(upper, lower, low);
      square[i | bit] = __builtin_shuffle(upper, lower, high);
    }
}

void turn_over(Vector (&square)[lanes]) {
  exchange<1>(square);
  exchange<2>(square);
  if constexpr (lanes > 4) exchange<4>(square);
  if constexpr (lanes > 8) exchange<8>(square);
}

// panel (k, width), width a multiple of lanes, from columns of b where they lie one behind the
// other: b[j · leading + p]. Columns beyond `columns` repeat the last one: nobody reads what comes
// of them.
void pack_transposed(int64_t k, int64_t columns, int64_t width, const real* b, int64_t leading,
                     real* panel) {
  for (int64_t j = 0; j < width; j += lanes) {
    const real* column[lanes];
    for (int64_t i = 0; i < lanes; ++i) column[i] = b + std::min(j + i, columns - 1) * leading;
    int64_t p = 0;
    for (; p + lanes <= k; p += lanes) {
      Vector square[lanes];
#pragma GCC unroll 16
      for (int64_t i = 0; i < lanes; ++i) square[i] = load(column[i] + p);
      turn_over(square);
#pragma GCC unroll 16
      for (int64_t i = 0; i < lanes; ++i) store(panel + (p + i) * width + j, square[i]);
    }
    for (; p < k; ++p)
      for (int64_t i = 0; i < lanes; ++i) panel[p * width + j + i] = column[i][p];
  }
}

void pack(int64_t k, int64_t columns, int64_t width, const real* b, int64_t leading, real* panel) {
  for (int64_t p = 0; p < k; ++p) {
    real* to = panel + p * width;
    if (columns == width)
      for (int64_t j = 0; j < width; j += lanes) store(to + j, load(b + p * leading + j));
    else
      std::fill(std::copy_n(b + p * leading, columns, to), to + width, real{0});
  }
}

// A panel of c, k numbers deep: blocks of rows as high as the registers allow, all about as high.
void multiply_panel(const Matrix& a, int64_t k, const real* panel, int64_t leading_panel,
                    int64_t columns, const Tile& tile) {
  const int vectors = columns > lanes ? 2 : 1;
  const auto& kernels = multiply_table[vectors - 1][a.transposed];
  const int64_t blocks = (a.rows + most_rows - 1) / most_rows;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t i = a.rows * block / blocks, rows = a.rows * (block + 1) / blocks - i;
    const real* from = a.data + i * (a.transposed ? 1 : a.leading);
    real* to = tile.c + i * tile.leading;
    const Multiply run = kernels[static_cast<size_t>(rows - 1)];
    run(k, from, a.leading, panel, leading_panel,
        {to, tile.leading, columns - (vectors - 1) * lanes, tile.bias, tile.scale,
         tile.accumulate});
  }
}

}  // namespace

void gemm_tiled(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                const real* bias) {
  alignas(vector_bytes) real panel[depth * panel_columns];
  const int64_t pieces = (a.columns + depth - 1) / depth;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t p = a.columns * piece / pieces, k = a.columns * (piece + 1) / pieces - p;
    Matrix left = a;
    left.data += p * (a.transposed ? a.leading : 1);
    for (int64_t j = 0; j < b.columns; j += panel_columns) {
      const int64_t columns = std::min<int64_t>(panel_columns, b.columns - j);
      const int64_t width = columns > lanes ? panel_columns : lanes;
      const real* from = b.data + (b.transposed ? j * b.leading + p : p * b.leading + j);
      const Tile tile{c.data + j, leading_c,
                      lanes,      bias && piece == 0 ? bias + j : nullptr,
                      scale,      c.accumulate || piece > 0};
      if (!b.transposed && columns == width && a.rows <= few_rows) {
        multiply_panel(left, k, from, b.leading, columns, tile);
        continue;
      }
      (b.transposed ? pack_transposed : pack)(k, columns, width, from, b.leading, panel);
      multiply_panel(left, k, panel, width, columns, tile);
    }
  }
}

}  // namespace heed::inline HEED_REAL::kernels
