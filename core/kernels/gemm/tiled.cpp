#include "core/kernels/gemm/tiled.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/kernels/simd/transpose.h"
#include "core/kernels/simd/vector.h"
#include "core/per_thread.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// A tile's sums fill the registers but for the vectors of the panel's row and one number of a: 24
// of 32, or 12 of 16. One that is wide rather than high loads less for them, so a panel is as wide
// as four vectors, or two; narrower ones are left at the edge, and in the products of a head.
constexpr int panel_vectors = vector_registers == 32 ? 4 : 2, panel_columns = panel_vectors * lanes;
constexpr int most_rows(int64_t vectors) {
  return vectors == panel_vectors
             ? 6
             : static_cast<int>(std::min<int64_t>(12, panel_vectors * 6 / vectors));
}
// What is copied at once: so many columns, as panels, are 576 KiB, and the rows 384 KiB, which
// together stay in the second cache of most processors, from where a panel streams.
constexpr int64_t depth = 384, most_columns = 384, copied_rows = 240;
// Rows of a that are read where they lie, for one panel after the other.
constexpr int64_t slab_rows = 512;
// A transposed a is copied where it is read for so many columns and its lines lie so far apart that
// every number of a tile is on a page of memory of its own.
constexpr int64_t many_columns = 128, far_apart = 1024 / sizeof(real);
// A panel whose rows are whole vectors already is copied only where these lie so far apart, and for
// so many rows of a.
constexpr int64_t near_enough = 512, rows_worth_it = 96;

// The copies of a thread.
struct Copies {
  alignas(vector_bytes) real panels[depth * most_columns];
  alignas(vector_bytes) real rows[depth * (copied_rows + lanes)];
};

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
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + p * leading_panel + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const real x = transposed ? a[p * leading_a + i] : a[i * leading_a + p];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] += x * b[v];
    }
  }
#pragma GCC unroll 4
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

// multiply<rows, vectors, transposed>, all of them.
using Multiply = void (*)(int64_t, const real*, int64_t, const real*, int64_t, const Tile&);
using OfRows = std::array<Multiply, most_rows(1)>;
template <int vectors, bool transposed, size_t... i>
constexpr OfRows of_rows(std::index_sequence<i...>) {
  return {multiply<static_cast<int>(i) + 1, vectors, transposed>...};
}
template <bool transposed, size_t... v>
constexpr std::array<OfRows, panel_vectors> of_vectors(std::index_sequence<v...>) {
  return {of_rows<static_cast<int>(v) + 1, transposed>(
      std::make_index_sequence<most_rows(v + 1)>())...};
}
constexpr auto every_width = std::make_index_sequence<panel_vectors>();
constexpr std::array multiply_table{of_vectors<false>(every_width), of_vectors<true>(every_width)};

// panel (k, width), width whole vectors, from columns of b. Numbers behind them are zero.
void pack(int64_t k, int64_t columns, int64_t width, const real* b, int64_t leading, real* panel) {
  for (int64_t p = 0; p < k; ++p) {
    real* to = panel + p * width;
    if (columns == width)
      for (int64_t j = 0; j < width; j += lanes) store(to + j, load(b + p * leading + j));
    else
      std::fill(std::copy_n(b + p * leading, columns, to), to + width, real{0});
  }
}

// n cut into as few pieces of `most` at most as it takes, about equal, the first ones longer by
// one. (Division of whole numbers is slow enough to show in the products of a head.)
struct Pieces {
  int64_t count, length, longer;
  Pieces(int64_t n, int64_t most)
      : count(n <= most ? 1 : (n + most - 1) / most),
        length(count == 1 ? n : n / count),
        longer(n - length * count) {}
  int64_t first(int64_t i) const { return i * length + std::min(i, longer); }
};

// a where it lies, or, transposed, its lines copied one behind the other.
class Rows {
 public:
  Rows(const Matrix& a, real* copy) : a_(a) {
    if (!copy) return;
    a_.data = copy;
    a_.leading = a.rows + lanes;  // no power of two: those meet in a few sets of the cache
    for (int64_t p = 0; p < a.columns; ++p)
      std::copy_n(a.data + p * a.leading, a.rows, copy + p * a_.leading);
  }
  int64_t rows() const { return a_.rows; }
  int64_t depth() const { return a_.columns; }
  bool transposed() const { return a_.transposed; }
  int64_t leading() const { return a_.leading; }
  const real* from(int64_t row) const { return a_.data + row * (transposed() ? 1 : leading()); }

 private:
  Matrix a_;
};

// All tiles of a panel of c.
void multiply_panel(const Rows& a, const real* panel, int64_t leading_panel, int64_t columns,
                    const Tile& c) {
  const int64_t vectors = whole_vectors(columns) / lanes;
  const auto& kernels = multiply_table[a.transposed()][static_cast<size_t>(vectors - 1)];
  const Pieces tiles(a.rows(), most_rows(vectors));
  for (int64_t tile = 0; tile < tiles.count; ++tile) {
    const int64_t i = tiles.first(tile), rows = tiles.first(tile + 1) - i;
    Tile here = c;
    here.c += i * c.leading;
    here.last = columns - (vectors - 1) * lanes;
    kernels[static_cast<size_t>(rows - 1)](a.depth(), a.from(i), a.leading(), panel, leading_panel,
                                           here);
  }
}

// Columns of b, some numbers deep, as panels one behind the other; or where they lie.
class Columns {
 public:
  Columns(const Matrix& b, bool copy, real* panels) : b_(b), panels_(copy ? panels : nullptr) {
    for (int64_t j = 0; copy && j < b.columns; j += panel_columns)
      if (b.transposed)
        transpose(columns(j), b.rows, b.data + j * b.leading, b.leading, panels + j * b.rows,
                  width(j));
      else
        pack(b.rows, columns(j), width(j), b.data + j, b.leading, panels + j * b.rows);
  }
  int64_t columns(int64_t j) const { return std::min<int64_t>(panel_columns, b_.columns - j); }
  const real* panel(int64_t j) const { return panels_ ? panels_ + j * b_.rows : b_.data + j; }
  int64_t leading(int64_t j) const { return panels_ ? width(j) : b_.leading; }

 private:
  int64_t width(int64_t j) const { return whole_vectors(columns(j)); }

  Matrix b_;
  const real* panels_;
};

}  // namespace

void gemm_tiled(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                const real* bias, const Epilogue& finish) {
  Copies& copies = per_thread<Copies>();
  const bool copy_rows = a.transposed && b.columns >= many_columns && a.leading >= far_apart;
  const bool copy_columns =
      b.transposed || b.columns % lanes != 0 || (a.rows > rows_worth_it && b.leading > near_enough);
  const Pieces deep(a.columns, depth), high(a.rows, copy_rows ? copied_rows : slab_rows);
  for (int64_t j0 = 0; j0 < b.columns; j0 += most_columns)
    for (int64_t piece = 0; piece < deep.count; ++piece) {
      const int64_t p = deep.first(piece), k = deep.first(piece + 1) - p;
      const int64_t width = std::min(most_columns, b.columns - j0);
      const Columns right(b.part(p, k, j0, width), copy_columns, copies.panels);
      for (int64_t slab = 0; slab < high.count; ++slab) {
        const int64_t i = high.first(slab), rows = high.first(slab + 1) - i;
        const Rows left(a.part(i, rows, p, k), copy_rows ? copies.rows : nullptr);
        for (int64_t j = 0; j < width; j += panel_columns)
          multiply_panel(
              left, right.panel(j), right.leading(j), right.columns(j),
              {c.data + i * leading_c + j0 + j, leading_c, lanes,
               bias && piece == 0 ? bias + j0 + j : nullptr, scale, c.accumulate || piece > 0});
        if (piece + 1 == deep.count) finish(i, i + rows, j0, j0 + width);
      }
    }
}

}  // namespace heed::inline HEED_REAL::kernels
