// Products in bfloat16 on tiles: how an operand is packed, and how one block of a result is made.
//
// A bfloat16 is the upper half of a float32: the same range, 8 bits of precision instead of 24. A
// tile is 16 rows of 64 bytes. The one instruction there is takes tiles A and B of bfloat16 and C
// of float32, and computes, a row of A and a row of B each holding 16 pairs,
//   c[i, j] += Σ_p  a[i, p].first · b[p, j].first + a[i, p].second · b[p, j].second
// (Intel, "Architecture Instruction Set Extensions Programming Reference", TDPBF16PS). So a tile of
// A holds 16 rows × 32 terms of a matrix as they stand, and one of B holds 32 terms × 16 columns
// with each two rows interleaved: it is the transpose, pair by pair, of what 16 rows of bᵀ are.
// Therefore both operands are packed by one function, from *lines*: rows of a, columns of b.
//
// `high` splits x = hi + lo, hi = bfloat16(x), lo = bfloat16(x - hi), and adds three products,
//   a b ≈ hi·lo + lo·hi + hi·hi
// which leaves out lo·lo, at most 2^-16 of a term, and the end of each number, at most 2^-17 of it
// (Henry, Tang, Heinecke 2019, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations"): at worst 3.1e-5 of a term, 4e-6 as a rule, and of varying sign.
//
// `Tiles` says what the instructions are: those of the processor, in amx.cpp, or their definition
// in plain C++, in the tests. amx.cpp is compiled for a processor that the rest is not: what is in
// here depends on Tiles, down to the smallest function, lest the linker keep one copy for both.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/real.h"

namespace heed::inline HEED_REAL::kernels {

inline constexpr int64_t tile_lines = 16;              // rows of a tile
inline constexpr int64_t tile_terms = 32;              // bfloat16 in a row
inline constexpr int64_t tile_words = 256;             // pairs of bfloat16 in a tile, or float32
inline constexpr int64_t block_side = 2 * tile_lines;  // of a block of the result: 2 × 2 tiles

// Rows of a or columns of b: term p of line i is data[i · to_next_line + p · to_next_term]. One of
// the two steps is 1.
struct Lines {
  const float* data;
  int64_t to_next_line, to_next_term;
};

// Where a block of a result goes: c = scale · block + bias (+ c where it accumulates), rows ×
// columns of it, each at most block_side; the bias (null for none) is one number a column.
struct BlockDestination {
  float* data;
  int64_t leading, rows, columns;
  bool accumulate;
  float scale;
  const float* bias;
};

// What the processor, or the definition, can do. A thread configures before it multiplies and
// releases after.
struct TileKernels {
  void (*configure)();
  void (*release)();
  // One panel of 32 lines, what is missing filled with zeros: for each 32 terms two tiles, and with
  // `split` two more for what the first two leave over. For the right operand tiles are transposed.
  void (*pack)(const Lines& from, int64_t lines, int64_t terms, bool right, bool split,
               uint32_t* panel);
  // The block that two panels give, over `steps` times 32 terms. Where it holds a number that is
  // not finite, returns false and leaves c alone.
  bool (*multiply)(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                   const BlockDestination& c);
};

// Words of a panel.
inline constexpr int64_t panel_words(int64_t steps, bool split) {
  return steps * (split ? 4 : 2) * tile_words;
}

template <class Tiles>
struct TileProduct {
  // Sixteen numbers; the compiler makes of them what the processor has.
  using Floats [[gnu::vector_size(64)]] = float;
  using Words [[gnu::vector_size(64)]] = uint32_t;

  static void load(const float* from, Floats& x) { std::memcpy(&x, from, sizeof(x)); }

  // The nearest bfloat16, the even one of two, in the upper half of each word. To add may carry a
  // NaN over into a zero: it is made one again.
  static void round(const Floats& x, Words& rounded) {
    const Words bits = (Words)x;
    const Words sum = bits + 0x7fff + (bits >> 16 & 1);
    rounded = (sum | ((Words)(x != x) & 0x7fc00000)) & 0xffff0000;
  }

  // Pairs (even, odd) as bfloat16, and of what is left over.
  static void join(const Floats& even, const Floats& odd, bool split, Words& pairs, Words& rest) {
    Words first, second;
    round(even, first);
    round(odd, second);
    pairs = first >> 16 | second;
    if (!split) return;
    const Floats even_rest = even - (Floats)first, odd_rest = odd - (Floats)second;
    round(even_rest, first);
    round(odd_rest, second);
    rest = first >> 16 | second;
  }

  // Each time the eight bits of an element's place (four of the row, four of the column) turn by
  // one: after four the row is the column.
  static void transpose(Words (&rows)[16]) {
    for (int turn = 0; turn < 4; ++turn) {
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

  // 16 lines of 32 terms. Vectors run along the terms where those lie side by side, and then each
  // gives a row of a left tile; else along the lines, and then two give a row of a right tile.
  static void pack_tile(const Lines& from, bool right, bool split, uint32_t* tile, uint32_t* rest) {
    const bool along = from.to_next_term == 1;
    Words pairs[16], rests[16];
    for (int64_t i = 0; i < 16; ++i) {
      Floats even, odd;
      if (along) {
        Floats first, second;
        load(from.data + i * from.to_next_line, first);
        load(from.data + i * from.to_next_line + 16, second);
        even = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
                                       26, 28, 30);
        odd = __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25,
                                      27, 29, 31);
      } else {
        load(from.data + 2 * i * from.to_next_term, even);
        load(from.data + (2 * i + 1) * from.to_next_term, odd);
      }
      join(even, odd, split, pairs[i], rests[i]);
    }
    if (along == right) transpose(pairs);
    std::memcpy(tile, pairs, sizeof(pairs));
    if (!split) return;
    if (along == right) transpose(rests);
    std::memcpy(rest, rests, sizeof(rests));
  }

  static void pack(const Lines& from, int64_t lines, int64_t terms, bool right, bool split,
                   uint32_t* panel) {
    for (int64_t term = 0; term < terms; term += tile_terms) {
      for (int64_t line = 0; line < block_side; line += tile_lines) {
        Lines tile = from;
        tile.data += line * from.to_next_line + term * from.to_next_term;
        alignas(64) float padded[tile_lines * tile_terms];
        if (lines < line + tile_lines || terms < term + tile_terms) {
          std::memset(padded, 0, sizeof(padded));
          for (int64_t i = 0; i < tile_lines && line + i < lines; ++i)
            for (int64_t p = 0; p < tile_terms && term + p < terms; ++p)
              padded[i * tile_terms + p] = tile.data[i * from.to_next_line + p * from.to_next_term];
          tile = {padded, tile_terms, 1};
        }
        uint32_t* to = panel + line / tile_lines * tile_words;
        pack_tile(tile, right, split, to, to + 2 * tile_words);
      }
      panel += panel_words(1, split);
    }
  }

  // Tiles 0 to 3 are the block, 4 and 5 are lines of a, 6 and 7 are lines of b.
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

  // Leaves a block of 32 × 32 sums.
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

  static bool multiply(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                       const BlockDestination& c) {
    alignas(64) float sums[block_side * block_side];
    sum(left, right, steps, split, sums);
    uint32_t greatest = 0;
    for (const float& x : sums) {
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof(bits));
      bits &= 0x7fffffff;
      greatest = bits > greatest ? bits : greatest;
    }
    if (greatest >= 0x7f800000) return false;
    alignas(64) float bias[block_side] = {};
    for (int64_t j = 0; c.bias && j < c.columns; ++j) bias[j] = c.bias[j];
    for (int64_t i = 0; i < c.rows; ++i) {
      float* __restrict to = c.data + i * c.leading;
      const float* __restrict from = sums + i * block_side;
      if (!c.accumulate)
        for (int64_t j = 0; j < c.columns; ++j) to[j] = 0;
      for (int64_t j = 0; j < c.columns; ++j)  // fused here and everywhere: the same bits
        to[j] = __builtin_fmaf(c.scale, from[j], to[j]) + bias[j];
    }
    return true;
  }

  static constexpr TileKernels kernels{Tiles::configure, Tiles::release, pack, multiply};
};

}  // namespace heed::inline HEED_REAL::kernels
