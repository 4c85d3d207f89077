// Matrix product with packed panels and a register-blocked micro-kernel, for one thread:
//
//   for each block of columns of b, so many as the L2 cache holds          (max_columns)
//     for each piece of the sum over p                                     (depth)
//       pack the block of b into panels, each a few vectors wide, so that row p + 1 of a panel
//       follows row p in memory
//       for each block of rows of a                                        (slab_rows)
//         for each panel
//           for each tile of c, up to six rows × one panel: the micro-kernel
//             tile[i][:] += a[i, p] · panel[p][:]    for all p, the tile in registers
//
// With 32 vector registers a panel is four vectors wide: a step of the micro-kernel loads four
// vectors, broadcasts six elements of a and makes 24 fused multiply-adds. With 16 registers it is
// two vectors wide. (After Goto & van de Geijn 2008, "Anatomy of High-Performance Matrix
// Multiplication".)
//
// Unlike OpenBLAS, which packs both operands, it reads a in place unless the strides of a are bad,
// and b too where its rows are contiguous whole vectors already. For the matrix products of a small
// Transformer packing took a fifth of the time.
#include <algorithm>
#include <array>
#include <utility>

#include "core/kernels/gemm/serial.h"
#include "core/kernels/simd/vector.h"
#include "core/per_thread.h"

namespace heed::inline HEED_REAL::kernels {
namespace {

// The sums of a tile take all vector registers but those for a row of the panel and one element of
// a: 24 of 32, or 12 of 16. A wide tile loads less for each multiplication than a high one.
// Narrower panels occur at the right edge of c and in the products of a short attention head.
constexpr int panel_vectors = vector_registers == 32 ? 4 : 2, panel_columns = panel_vectors * lanes;
// Engines of WebAssembly keep some of the 16 registers, and each product takes one. On ARM every
// element of a takes one: with six rows GCC 12 keeps two sums in memory.
#if defined(__wasm__) || defined(__aarch64__)
constexpr int panel_rows = 5;
#else
constexpr int panel_rows = 6;
#endif
// The rows of a tile that is so many vectors wide.
constexpr int max_tile_rows(int64_t vectors) {
  return vectors == panel_vectors
             ? panel_rows
             : static_cast<int>(std::min<int64_t>(12, panel_vectors * panel_rows / vectors));
}
// The packed block of b takes 576 KiB in float and the packed rows of a 384 KiB. Both stay in the
// L2 cache of most processors, from which panels are streamed.
constexpr int64_t depth = 384, max_columns = 384, packed_rows = 240;
// Rows of a in a block, if they are read in place.
constexpr int64_t slab_rows = 512;
// A transposed a is packed if it is read for at least so many columns of c, and if its leading
// dimension is so large that each element of a column of a tile lies on a memory page of its own.
constexpr int64_t min_columns_to_pack_a = 128, long_stride = 1024 / sizeof(real);
// A b whose rows are whole vectors is packed only if its leading dimension is larger than this, and
// for more rows of a than this.
constexpr int64_t short_stride = 512, max_rows_in_place = 96;
// multiply_transposed() is for at least so many columns of b, and sums of at least this length.
constexpr int64_t min_transposed_columns = 128, min_transposed_depth = 256;

// The packing buffers of a thread.
struct PackingBuffers {
  alignas(vector_bytes) real panels[depth * max_columns];
  alignas(vector_bytes) real rows[depth * (packed_rows + lanes)];
};

// The tile of c that the micro-kernel writes.
struct Tile {
  real* c;
  int64_t leading;
  int64_t last_columns;  // columns in its last vector: 1 … lanes
  const real* bias;      // added to every row; null: none
  real scale;
  bool accumulate;
};

// The micro-kernel: rows × (vectors · lanes) elements of c. Element (i, p) of a is
// a[i · leading_a + p], or a[p · leading_a + i] with `transposed`. Row p of the panel begins at
// panel[p · leading_panel].
template <int rows, int vectors, bool transposed>
void multiply(int64_t k, const real* __restrict a, int64_t leading_a, const real* __restrict panel,
              int64_t leading_panel, const Tile& tile) {
  Vector sum[rows][vectors] = {};
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(tile.c + i * tile.leading + v * lanes, 1);
  for (int64_t p = 0; p < k; ++p) {
    if (!transposed && p % lanes == 0)  // what the next tile reads of a
      for (int i = 0; i < rows; ++i) __builtin_prefetch(a + (rows + i) * leading_a + p);
    Vector b[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + p * leading_panel + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const real x = transposed ? a[p * leading_a + i] : a[i * leading_a + p];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] = fma(broadcast(x), b[v], sum[i][v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const int64_t count = v + 1 < vectors ? lanes : tile.last_columns;
    const Vector bias = tile.bias ? load_first(tile.bias + v * lanes, count) : Vector{};
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      real* to = tile.c + i * tile.leading + v * lanes;
      const Vector result = fma(sum[i][v], broadcast(tile.scale), bias);
      if (count == lanes)
        store(to, tile.accumulate ? load(to) + result : result);
      else
        store_first(to, tile.accumulate ? load_first(to, count) + result : result, count);
    }
  }
}

// All instances of the micro-kernel: multiply_table[transposed][vectors - 1][rows - 1].
using Multiply = void (*)(int64_t, const real*, int64_t, const real*, int64_t, const Tile&);
using MultiplyByRows = std::array<Multiply, max_tile_rows(1)>;
template <int vectors, bool transposed, size_t... i>
constexpr MultiplyByRows multiply_by_rows(std::index_sequence<i...>) {
  return {multiply<static_cast<int>(i) + 1, vectors, transposed>...};
}
template <bool transposed, size_t... v>
constexpr std::array<MultiplyByRows, panel_vectors> multiply_by_vectors(std::index_sequence<v...>) {
  return {multiply_by_rows<static_cast<int>(v) + 1, transposed>(
      std::make_index_sequence<max_tile_rows(v + 1)>())...};
}
constexpr auto all_widths = std::make_index_sequence<panel_vectors>();
constexpr std::array multiply_table{multiply_by_vectors<false>(all_widths),
                                    multiply_by_vectors<true>(all_widths)};

// Packs k rows of b, `columns` elements each, into a panel of `width` columns, a multiple of the
// vector length. The columns beyond are zero.
void pack(int64_t k, int64_t columns, int64_t width, const real* b, int64_t leading, real* panel) {
  for (int64_t p = 0; p < k; ++p) {
    real* to = panel + p * width;
    if (columns == width)
      for (int64_t j = 0; j < width; j += lanes) store(to + j, load(b + p * leading + j));
    else
      std::fill(std::copy_n(b + p * leading, columns, to), to + width, real{0});
  }
}

// Divides [0, n) into as few intervals as possible, each at most `limit` long, of about equal
// length: the first `longer` ones have one element more. (An integer division is slow enough to
// show in the products of an attention head.)
struct Intervals {
  int64_t count, length, longer;
  Intervals(int64_t n, int64_t limit)
      : count(n <= limit ? 1 : (n + limit - 1) / limit),
        length(count == 1 ? n : n / count),
        longer(n - length * count) {}
  int64_t begin(int64_t i) const { return i * length + std::min(i, longer); }
  int64_t size(int64_t i) const { return begin(i + 1) - begin(i); }
};

// A block of rows of a: read in place, or, if it is transposed, packed.
class RowBlock {
 public:
  RowBlock(const MatrixView& a, real* buffer) : a_(a) {
    if (!buffer) return;
    a_.data = buffer;
    a_.leading = a.rows + lanes;  // not a power of two: those map to few sets of the cache
    for (int64_t p = 0; p < a.columns; ++p) {
      const real* const from = a.data + p * a.leading;
      for (int64_t i = 0; i < a.rows; i += lanes) __builtin_prefetch(from + 4 * a.leading + i);
      std::copy_n(from, a.rows, buffer + p * a_.leading);
    }
  }
  int64_t rows() const { return a_.rows; }
  int64_t depth() const { return a_.columns; }
  bool transposed() const { return a_.transposed; }
  int64_t leading() const { return a_.leading; }
  const real* row(int64_t i) const { return a_.data + i * (transposed() ? 1 : leading()); }

 private:
  MatrixView a_;
};

// A block of columns of b: panels, packed or read in place.
class Panels {
 public:
  Panels(const MatrixView& b, bool packed, real* buffer)
      : b_(b), packed_(packed ? buffer : nullptr) {
    for (int64_t j = 0; packed && j < b.columns; j += panel_columns)
      if (b.transposed)
        transpose(columns(j), b.rows, b.data + j * b.leading, b.leading, buffer + j * b.rows,
                  width(j));
      else
        pack(b.rows, columns(j), width(j), b.data + j, b.leading, buffer + j * b.rows);
  }
  // The panel that begins at column j, its columns, and its leading dimension.
  const real* panel(int64_t j) const { return packed_ ? packed_ + j * b_.rows : b_.data + j; }
  int64_t columns(int64_t j) const { return std::min<int64_t>(panel_columns, b_.columns - j); }
  int64_t leading(int64_t j) const { return packed_ ? width(j) : b_.leading; }

 private:
  int64_t width(int64_t j) const { return whole_vectors(columns(j)); }

  MatrixView b_;
  const real* packed_;
};

// All rows of `a` times the panel at column j. c.c is where the first row of the result begins.
void multiply_panel(const RowBlock& a, const Panels& b, int64_t j, const Tile& c) {
  const int64_t columns = b.columns(j), vectors = whole_vectors(columns) / lanes;
  const auto& kernels = multiply_table[a.transposed()][static_cast<size_t>(vectors - 1)];
  const Intervals tiles(a.rows(), max_tile_rows(vectors));
  for (int64_t t = 0; t < tiles.count; ++t) {
    const int64_t i = tiles.begin(t);
    Tile tile = c;
    tile.c += i * c.leading;
    tile.last_columns = columns - (vectors - 1) * lanes;
    kernels[static_cast<size_t>(tiles.size(t) - 1)](a.depth(), a.row(i), a.leading(), b.panel(j),
                                                    b.leading(j), tile);
  }
}

// Returns whether multiply_transposed() is faster: for few rows of a, which packing a large b would
// delay for long. They must nearly fill the vectors that hold a column of a.
bool transposed_is_faster(const MatrixView& a, const MatrixView& b, Destination c,
                          const GemmOptions& options) {
  const bool fills_lanes = 4 * a.rows >= 3 * whole_vectors(a.rows);
  return a.rows <= panel_columns && fills_lanes && !a.transposed && b.transposed &&
         b.columns >= min_transposed_columns && a.columns >= min_transposed_depth &&
         !c.accumulate && options.scale == 1;
}

// Computes c as the transpose of bᵀ aᵀ, which reads b in place and packs a. Sums have the order of
// gemm_tiled(), and so the same bits.
void multiply_transposed(const MatrixView& a, const MatrixView& b, Destination c,
                         const GemmOptions& options) {
  const int64_t m = a.rows, leading = whole_vectors(m);
  real* const block = per_thread<PackingBuffers>().rows;  // not used by a product of b in place
  for (int64_t j = 0; j < b.columns; j += slab_rows) {
    const int64_t columns = std::min(slab_rows, b.columns - j);
    for (int64_t i = 0; options.bias && i < columns; ++i)
      std::fill_n(block + i * leading, m, options.bias[j + i]);
    gemm_tiled(b.block(0, b.rows, j, columns).t(), a.t(), {block, options.bias != nullptr},
               {.leading_c = leading});
    const int64_t whole = columns / lanes * lanes;
    transpose(whole, m, block, leading, c.data + j, options.leading_c);
    for (int64_t i = whole; i < columns; ++i)
      for (int64_t row = 0; row < m; ++row)
        c.data[row * options.leading_c + j + i] = block[i * leading + row];
    options.epilogue(0, m, j, j + columns);
  }
}

}  // namespace

void gemm_tiled(const MatrixView& a, const MatrixView& b, Destination c,
                const GemmOptions& options) {
  if (transposed_is_faster(a, b, c, options)) return multiply_transposed(a, b, c, options);
  PackingBuffers& buffers = per_thread<PackingBuffers>();
  const bool pack_a =
      a.transposed && b.columns >= min_columns_to_pack_a && a.leading >= long_stride;
  const bool pack_b = b.transposed || b.columns % lanes != 0 ||
                      (a.rows > max_rows_in_place && b.leading > short_stride);
  const Intervals pieces(a.columns, depth), slabs(a.rows, pack_a ? packed_rows : slab_rows);
  for (int64_t j0 = 0; j0 < b.columns; j0 += max_columns) {
    const int64_t width = std::min(max_columns, b.columns - j0);
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      const int64_t p = pieces.begin(piece), k = pieces.size(piece);
      const bool first = piece == 0, last = piece + 1 == pieces.count;
      const Panels panels(b.block(p, k, j0, width), pack_b, buffers.panels);
      for (int64_t slab = 0; slab < slabs.count; ++slab) {
        const int64_t i = slabs.begin(slab), rows = slabs.size(slab);
        const RowBlock left(a.block(i, rows, p, k), pack_a ? buffers.rows : nullptr);
        for (int64_t j = 0; j < width; j += panel_columns)
          multiply_panel(left, panels, j,
                         {c.data + i * options.leading_c + j0 + j, options.leading_c, lanes,
                          options.bias && first ? options.bias + j0 + j : nullptr, options.scale,
                          c.accumulate || !first});
        if (last) options.epilogue(i, i + rows, j0, j0 + width);
      }
    }
  }
}

}  // namespace heed::inline HEED_REAL::kernels
