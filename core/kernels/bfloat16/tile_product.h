// Matrix products on bfloat16 tiles: how an operand is packed, and how one block of c is computed.
//
// A bfloat16 is the upper half of a float32: the same range, with 8 bits of precision instead of
// 24. A tile is 16 rows of 64 bytes. The one multiply instruction takes tiles A and B of bfloat16,
// a row of each holding 16 pairs, and a tile C of float32, and computes
//   c[i, j] += Σ_p  a[i, p].first · b[p, j].first + a[i, p].second · b[p, j].second
// (Intel, "Architecture Instruction Set Extensions Programming Reference", TDPBF16PS). So a tile of
// A holds 16 rows × 32 terms of a matrix as they are. A tile of B holds 32 terms × 16 columns, with
// each two terms interleaved: as a 16 × 16 matrix of pairs, the transpose of what 16 rows of bᵀ
// are. Therefore one function packs both operands, given *lines*: rows of a or columns of b.
//
// `high` splits x = hi + lo, hi = bfloat16(x), lo = bfloat16(x - hi), and adds three products,
//   a b ≈ hi·lo + lo·hi + hi·hi
// This omits lo·lo, at most 2^-16 of a term, and the rounding of lo, at most 2^-17 of each operand
// (Henry, Tang, Heinecke 2019, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations"). The error is at most 3.1e-5 of a term, 4e-6 on average, with
// varying sign.
//
// The parameter `Tiles` is the instructions: those of amx.cpp, or the tiles' definition in plain
// C++ in the tests. avx512.cpp uses only what packs. Both files are compiled for a newer processor
// than the rest, so every function in this file is a template on Tiles: otherwise the linker might
// keep one copy.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

inline constexpr int64_t tile_lines = 16;              // rows of a tile
inline constexpr int64_t tile_terms = 32;              // bfloat16 values in a row
inline constexpr int64_t tile_words = 256;             // float32 values, or pairs, in a tile
inline constexpr int64_t block_side = 2 * tile_lines;  // of a block of c: 2 × 2 tiles

// Rows of a or columns of b. Term p of line i is data[i · line_stride + p · term_stride]; one of
// the strides is 1.
struct Lines {
  const float* data;
  int64_t line_stride, term_stride;
};

// A block of c: c = scale · product + bias (+ c if it accumulates), rows × columns, each at most
// block_side. The bias (columns) is added to each row; null: none.
struct BlockDestination {
  float* data;
  int64_t leading, rows, columns;
  bool accumulate;
  float scale;
  const float* bias;
};

// The product's functions, for one kind of tile instructions.
struct TileKernels {
  // A thread calls configure() before multiply() and release() after.
  void (*configure)();
  void (*release)();
  // Packs up to 32 lines into a panel: for every 32 terms two tiles, and with `split` two more for
  // the low parts. Missing lines and terms are zero. Tiles of the right operand are transposed.
  void (*pack)(const Lines& from, int64_t lines, int64_t terms, bool right, bool split,
               uint32_t* panel);
  // Computes the block of c that two panels of `steps` · 32 terms give. Returns the number of rows
  // computed, from the first on: all of them if all elements are finite. The others are unchanged.
  int64_t (*multiply)(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                      const BlockDestination& c);
  int64_t rate;  // about how many times as fast as products in float32
};

// Those of Intel's Advanced Matrix Extensions (AMX). Use them only if has_avx512_bfloat16(), the
// processor has AMX and the operating system permits its use, which tile_kernels() in bfloat16.h
// checks.
extern const TileKernels amx_kernels;

// Those of AVX512_BF16. Use them only if has_avx512_bfloat16().
extern const TileKernels avx512_kernels;

// Returns whether the processor has AVX512_BF16 and the other parts of AVX-512 that both are
// compiled for.
bool has_avx512_bfloat16();

// The size of a panel in words.
inline constexpr int64_t panel_words(int64_t steps, bool split) {
  return steps * (split ? 4 : 2) * tile_words;
}

template <class Tiles>
struct TileProduct {
  // 16 elements, as one register or several.
  using Floats [[gnu::vector_size(64)]] = float;
  using Words [[gnu::vector_size(64)]] = uint32_t;

  static void load(const float* from, Floats& x) { std::memcpy(&x, from, sizeof(x)); }
  // Loads what a later tile reads into the cache. The address may be beyond the operand.
  static void prefetch(const float* from) { __builtin_prefetch(from); }

  // Rounds (even, odd) to pairs of bfloat16; with `split`, `low` holds pairs of their low parts.
  static void round_pairs(const Floats& even, const Floats& odd, bool split, Words& pairs,
                          Words& low) {
    Tiles::round_pairs(even, odd, pairs);
    if (split)
      Tiles::round_pairs(even - (Floats)(pairs << 16), odd - (Floats)(pairs & 0xffff0000), low);
  }

  // Each step rotates the eight bits of an element's index (four of the row, four of the column) by
  // one; four steps exchange row and column.
  static void transpose(Words (&rows)[16]) {
    for (int step = 0; step < 4; ++step) {
      Words next[16];
      for (int64_t i = 0; i < 8; ++i) {
        next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                              20, 5, 21, 6, 22, 7, 23);
        next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11,
                                                  27, 12, 28, 13, 29, 14, 30, 15, 31);
      }
      for (int i = 0; i < 16; ++i) rows[i] = next[i];
    }
  }

  // Packs 16 lines of 32 terms. If the terms of a line are contiguous, two vectors give one row of
  // a left tile; otherwise the lines are, and two vectors give one row of a right tile.
  template <bool terms_contiguous, bool right, bool split>
  static void pack_tile(const Lines& from, uint32_t* tile, uint32_t* low) {
    Words pairs[16], low_pairs[16];
#pragma GCC unroll 16
    for (int64_t i = 0; i < 16; ++i) {
      Floats even, odd;
      if constexpr (terms_contiguous) {
        Floats first, second;
        const float* const line = from.data + i * from.line_stride;
        prefetch(line + 2 * tile_terms);
        prefetch(line + 2 * tile_terms + 16);
        load(line, first);
        load(line + 16, second);
        if constexpr (!split) {
          Tiles::round_in_order(first, second, pairs[i]);
          continue;
        }
        even = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
                                       26, 28, 30);
        odd = __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25,
                                      27, 29, 31);
      } else {
        const float* const term = from.data + 2 * i * from.term_stride;
        prefetch(term + tile_terms * from.term_stride);
        prefetch(term + (tile_terms + 1) * from.term_stride);
        load(term, even);
        load(term + from.term_stride, odd);
      }
      round_pairs(even, odd, split, pairs[i], low_pairs[i]);
    }
    if constexpr (terms_contiguous == right) transpose(pairs);
    store(pairs, tile);
    if constexpr (!split) return;
    if constexpr (terms_contiguous == right) transpose(low_pairs);
    store(low_pairs, low);
  }
  static void store(const Words (&rows)[16], uint32_t* to) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < 16; ++i) std::memcpy(to + i * 16, &rows[i], sizeof(rows[i]));
  }

  using PackTile = void (*)(const Lines& from, uint32_t* tile, uint32_t* low);
  template <bool terms_contiguous>
  static constexpr PackTile pack_tiles[2][2]{
      // [right][split]
      {pack_tile<terms_contiguous, false, false>, pack_tile<terms_contiguous, false, true>},
      {pack_tile<terms_contiguous, true, false>, pack_tile<terms_contiguous, true, true>}};

  static void pack(const Lines& from, int64_t lines, int64_t terms, bool right, bool split,
                   uint32_t* panel) {
    const PackTile pack_contiguous = pack_tiles<true>[right][split];
    const PackTile pack_whole =
        from.term_stride == 1 ? pack_contiguous : pack_tiles<false>[right][split];
    for (int64_t term = 0; term < terms; term += tile_terms) {
      for (int64_t line = 0; line < block_side; line += tile_lines) {
        Lines tile = from;
        tile.data += line * from.line_stride + term * from.term_stride;
        uint32_t* const to = panel + line / tile_lines * tile_words;
        if (lines < line + tile_lines || terms < term + tile_terms) {
          alignas(64) float padded[tile_lines * tile_terms];
          std::memset(padded, 0, sizeof(padded));
          for (int64_t i = 0; i < tile_lines && line + i < lines; ++i)
            for (int64_t p = 0; p < tile_terms && term + p < terms; ++p)
              padded[i * tile_terms + p] = tile.data[i * from.line_stride + p * from.term_stride];
          pack_contiguous({padded, tile_terms, 1}, to, to + 2 * tile_words);
        } else {
          pack_whole(tile, to, to + 2 * tile_words);
        }
      }
      panel += panel_words(1, split);
    }
  }

  // Tiles 0 to 3 hold the block of c, 4 and 5 lines of a, 6 and 7 lines of b.
  static void multiply_all(Tiles& tiles) {
    tiles.template multiply<0, 4, 6>();
    tiles.template multiply<1, 4, 7>();
    tiles.template multiply<2, 5, 6>();
    tiles.template multiply<3, 5, 7>();
  }
  template <int tile>
  static void load_two(Tiles& tiles, const uint32_t* from) {
    tiles.template load<tile>(from);
    tiles.template load<tile + 1>(from + tile_words);
  }

  // Computes the 32 × 32 sums of a block.
  static void sum(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                  float* sums) {
    Tiles tiles;
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
    for (int64_t step = 0; step < steps; ++step) {
      load_two<4>(tiles, left);
      if (split) {
        load_two<6>(tiles, right + 2 * tile_words);
        multiply_all(tiles);  // hi·lo
        load_two<6>(tiles, right);
        multiply_all(tiles);  // hi·hi
        load_two<4>(tiles, left + 2 * tile_words);
        multiply_all(tiles);  // lo·hi
      } else {
        load_two<6>(tiles, right);
        multiply_all(tiles);
      }
      left += panel_words(1, split);
      right += panel_words(1, split);
    }
    tiles.template store<0>(sums, block_side);
    tiles.template store<1>(sums + tile_lines, block_side);
    tiles.template store<2>(sums + tile_lines * block_side, block_side);
    tiles.template store<3>(sums + tile_lines * block_side + tile_lines, block_side);
  }

  // One row of a block: to = scale · sums + bias (+ to). A fused multiply-add on every processor,
  // so that the bits are the same.
  [[gnu::always_inline]] static void write_row(const BlockDestination& c, int64_t columns,
                                               const float* __restrict sums,
                                               const float* __restrict bias, float* __restrict to) {
    if (c.accumulate)
      for (int64_t j = 0; j < columns; ++j)
        to[j] = __builtin_fmaf(c.scale, sums[j], to[j]) + bias[j];
    else
      for (int64_t j = 0; j < columns; ++j)
        to[j] = __builtin_fmaf(c.scale, sums[j], 0.0F) + bias[j];
  }

  static int64_t multiply(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                          const BlockDestination& c) {
    alignas(64) float sums[block_side * block_side];
    sum(left, right, steps, split, sums);
    uint32_t largest = 0;
    for (const float& x : sums) {
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      bits &= 0x7fffffff;
      largest = bits > largest ? bits : largest;
    }
    if (largest >= 0x7f800000) return 0;  // infinity or NaN
    alignas(64) float bias[block_side] = {};
    for (int64_t j = 0; c.bias && j < c.columns; ++j) bias[j] = c.bias[j];
    for (int64_t i = 0; i < c.rows; ++i) {
      float* const to = c.data + i * c.leading;
      const float* const from = sums + i * block_side;
      if (c.columns == block_side)
        write_row(c, block_side, from, bias, to);  // whole vectors
      else
        write_row(c, c.columns, from, bias, to);
    }
    return c.rows;
  }

  static constexpr TileKernels kernels{Tiles::configure, Tiles::release, pack, multiply,
                                       Tiles::rate};
};

}  // namespace heed::inline HEED_REAL::kernels
