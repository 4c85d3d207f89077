// Blocks of a bfloat16 matrix product by an instruction of AVX512_BF16, VDPBF16PS, which adds to
// each of 16 sums the product of a pair: c += a.first b.first + a.second b.second
// (Intel, "Architecture Instruction Set Extensions Programming Reference"). It treats values
// smaller than 2^-126 as zero. The panels are those of tile_product.h, without tiles: a row of a
// right tile holds pair p of 16 columns, and word p of row i of a left tile is pair p of line i. So
//   c[i, 0…31] += left[i, p] · right[p, 0…31]
// broadcasts one word of the left panel and reads two vectors of the right one. Eight rows of the
// block are summed at a time, in 16 registers: 16 products for 10 loads.
//
// This file is compiled with AVX-512, whatever the build's target.
#include "core/kernels/bfloat16/rounding.h"
#include "core/kernels/bfloat16/tile_product.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)

namespace heed::inline HEED_REAL::kernels {
namespace {

struct Avx512Pairs : Rounding {
  static constexpr bool high_pays = false;  // three products at twice the rate of float32
  static void configure() {}
  static void release() {}

  static __m512i load(const uint32_t* from) { return _mm512_load_si512(from); }

  static void sum(const uint32_t* left, const uint32_t* right, int64_t steps, bool split,
                  float* sums) {
    constexpr int64_t rows_at_once = 8, pairs = tile_terms / 2, low = 2 * tile_words;
    constexpr int64_t parts[3][2] = {{0, low}, {0, 0}, {low, 0}};  // hi·lo, hi·hi, lo·hi
    const int64_t first_part = split ? 0 : 1, last_part = split ? 3 : 2;
    for (int64_t row = 0; row < block_side; row += rows_at_once) {
      __m512 c[rows_at_once][2];
      for (auto& vectors : c) vectors[0] = vectors[1] = _mm512_setzero_ps();
      const uint32_t* a_step = left + row / tile_lines * tile_words + row % tile_lines * pairs;
      const uint32_t* b_step = right;
      for (int64_t step = 0; step < steps; ++step) {
        for (int64_t part = first_part; part < last_part; ++part) {
          const uint32_t* const a = a_step + parts[part][0];
          const uint32_t* const b = b_step + parts[part][1];
          for (int64_t p = 0; p < pairs; ++p) {
            const __m512bh b0 = (__m512bh)load(b + p * tile_lines);
            const __m512bh b1 = (__m512bh)load(b + tile_words + p * tile_lines);
#pragma GCC unroll 8
            for (int64_t i = 0; i < rows_at_once; ++i) {
              const __m512bh pair = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i * pairs + p]));
              c[i][0] = _mm512_dpbf16_ps(c[i][0], pair, b0);
              c[i][1] = _mm512_dpbf16_ps(c[i][1], pair, b1);
            }
          }
        }
        a_step += panel_words(1, split);
        b_step += panel_words(1, split);
      }
      for (int64_t i = 0; i < rows_at_once; ++i)
        for (int64_t half = 0; half < 2; ++half)
          _mm512_store_ps(sums + (row + i) * block_side + half * tile_lines, c[i][half]);
    }
  }
};

}  // namespace

const TileKernels avx512_kernels = TileProduct<Avx512Pairs>::kernels;

}  // namespace heed::inline HEED_REAL::kernels

#endif
