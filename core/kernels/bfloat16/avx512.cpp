// Blocks of a bfloat16 matrix product by an instruction of AVX512_BF16, VDPBF16PS, which adds to
// each of 16 sums the product of a pair: c += a.first b.first + a.second b.second
// (Intel, "Architecture Instruction Set Extensions Programming Reference"). It treats values
// smaller than 2^-126 as zero. The panels are those of tile_product.h, without tiles: a row of a
// right tile holds pair p of 16 columns, and word p of row i of a left tile is pair p of line i. So
//   c[i, 0…31] += left[i, p] · right[p, 0…31]
// broadcasts one word of the left panel and reads two vectors of the right one. Eight rows of the
// block are summed at a time, in 16 registers: 16 products for 10 loads. If fewer are left, only
// these, or one row more, so that a single row takes no longer than memory takes to bring the
// panel.
//
// This file is compiled with AVX-512, whatever the build's target.
#include "core/kernels/bfloat16/rounding.h"
#include "core/kernels/bfloat16/tile_product.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)

namespace heed::inline HEED_REAL::kernels {
namespace {

using TilePacking = TileProduct<Rounding>;
constexpr int64_t rows_at_once = 8;
template <int64_t rows>
using Sums = __m512[rows][2];

__m512i load(const uint32_t* from) { return _mm512_load_si512(from); }

// Sums rows [row, row + rows) of a block.
template <int64_t rows>
[[gnu::always_inline]] inline void sum_rows(int64_t row, const uint32_t* left,
                                            const uint32_t* right, int64_t steps, bool split,
                                            Sums<rows>& c) {
  constexpr int64_t pairs = tile_terms / 2, low = 2 * tile_words;
  constexpr int64_t parts[3][2] = {{0, low}, {0, 0}, {low, 0}};  // hi·lo, hi·hi, lo·hi
  const int64_t first_part = split ? 0 : 1, last_part = split ? 3 : 2;
  for (auto& vectors : c) vectors[0] = vectors[1] = _mm512_setzero_ps();
  left += row / tile_lines * tile_words + row % tile_lines * pairs;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t part = first_part; part < last_part; ++part) {
      const uint32_t* const a = left + parts[part][0];
      const uint32_t* const b = right + parts[part][1];
      const auto add = [&](int64_t p, int64_t half) {
        const __m512bh words = (__m512bh)load(b + half * tile_words + p * tile_lines);
#pragma GCC unroll 8
        for (int64_t i = 0; i < rows; ++i) {
          const __m512bh pair = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i * pairs + p]));
          c[i][half] = _mm512_dpbf16_ps(c[i][half], pair, words);
        }
      };
      if constexpr (rows < rows_at_once) {
        // So few products that memory limits them: it is read from one end to the other.
        for (int64_t p = 0; p < pairs; ++p) add(p, 0);
        for (int64_t p = 0; p < pairs; ++p) add(p, 1);
      } else {
        for (int64_t p = 0; p < pairs; ++p) add(p, 0), add(p, 1);
      }
    }
    left += panel_words(1, split);
    right += panel_words(1, split);
  }
}

template <int64_t rows>
bool all_finite(const Sums<rows>& sums) {
  TilePacking::Words largest{};  // magnitude: as integers, infinity and NaN are the largest
  for (const auto& vectors : sums)
    for (const __m512 x : vectors) {
      const auto bits = (TilePacking::Words)x & 0x7fffffff;
      largest = bits > largest ? bits : largest;
    }
  return _mm512_movepi32_mask((__m512i)(largest >= 0x7f800000)) == 0;
}

// The two halves of the columns of a block.
struct Halves {
  __mmask16 masks[2];
  __m512 bias[2] = {};

  explicit Halves(const BlockDestination& c) {
    const uint32_t columns = c.columns == block_side ? ~0u : (1u << c.columns) - 1;
    masks[0] = static_cast<__mmask16>(columns);
    masks[1] = static_cast<__mmask16>(columns >> tile_lines);
    for (int64_t half = 0; c.bias && half < 2; ++half)
      bias[half] = _mm512_maskz_loadu_ps(masks[half], c.bias + half * tile_lines);
  }
};

// Computes up to `rows` rows of a block, from this one on. Returns whether all are finite; if not,
// they are unchanged.
template <int64_t rows>
[[gnu::always_inline]] inline bool multiply_rows(int64_t row, const uint32_t* left,
                                                 const uint32_t* right, int64_t steps, bool split,
                                                 const BlockDestination& c, const Halves& halves) {
  for (int64_t i = 0; i < rows && row + i < c.rows; ++i)
    for (int64_t half = 0; half < 2; ++half)
      __builtin_prefetch(c.data + (row + i) * c.leading + half * tile_lines, 1);
  const __m512 scale = _mm512_set1_ps(c.scale);
  Sums<rows> sums;
  sum_rows<rows>(row, left, right, steps, split, sums);
  if (!all_finite<rows>(sums)) return false;
  for (int64_t i = 0; i < rows && row + i < c.rows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      const __mmask16 mask = halves.masks[half];
      float* const to = c.data + (row + i) * c.leading + half * tile_lines;
      const __m512 before = c.accumulate ? _mm512_maskz_loadu_ps(mask, to) : __m512{};
      const __m512 result = _mm512_fmadd_ps(scale, sums[i][half], before) + halves.bias[half];
      if (c.columns == block_side)
        _mm512_storeu_ps(to, result);
      else
        _mm512_mask_storeu_ps(to, mask, result);
    }
  return true;
}

int64_t multiply(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                 const BlockDestination& c) {
  const Halves halves(c);
  for (int64_t row = 0; row < c.rows; row += rows_at_once) {
    const int64_t rest = c.rows - row;
    const bool finite = rest > 4
                            ? multiply_rows<rows_at_once>(row, left, right, steps, split, c, halves)
                        : rest > 2 ? multiply_rows<4>(row, left, right, steps, split, c, halves)
                        : rest > 1 ? multiply_rows<2>(row, left, right, steps, split, c, halves)
                                   : multiply_rows<1>(row, left, right, steps, split, c, halves);
    if (!finite) return row;
  }
  return c.rows;
}

}  // namespace

const TileKernels avx512_kernels{[] {}, [] {}, TilePacking::pack, multiply, 2};

}  // namespace heed::inline HEED_REAL::kernels

#endif
