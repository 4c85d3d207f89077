// Matrix products in the precisions `high` and `medium`, on the bfloat16 instructions of the
// processor: AMX's tiles, or AVX512_BF16 where that is faster than float32.
//
//   medium   both operands rounded to bfloat16, products summed in float32
//   high     each operand split into two bfloat16 values, three products: see tile_product.h
//
// For each slice of 512 terms of the sum, all threads round b and pack it into panels of 32
// columns. Then each thread packs four panels of 32 rows of a at a time, which stay in its L2
// cache, and computes the 32 × 32 blocks of c that they and a panel of b give, for one panel of b
// after the other. The result does not depend on the number of threads.
// - Rows of a block with an element that is not finite are computed again in float32. So
//   infinities, NaN and overflow are those of `highest`, also for values that round to an infinite
//   bfloat16. An operand packed ahead keeps only rounded values; these are multiplied.
// - The instruction treats values smaller than 2^-126 as zero. So `high` is only as precise as
//   `medium` below 2^-118, where the second part of the split is that small.
// The products of AVX512_BF16 are used only on AMD's processors, where they have twice the rate of
// float32 (Zen 4: issue 15089 of iree-org/iree). Intel's have half of it (measured: 88 against 178
// GFLOP/s a core). At twice the rate, the three products of `high` do not pay, so `high` is
// `highest` there. The choice is by the kind of processor, never by a measurement, because bits
// must not depend on a clock.
#pragma once

#include <cstdint>

#include "core/kernels/gemm/view.h"
#include "core/parallel.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

struct TileKernels;

// Returns the kernels that are fastest on this processor. Null if float32 is, if the operating
// system does not permit the use of tiles, and in the double build.
const TileKernels* tile_kernels();

// Computes c as gemm() does, on at most so many threads; options.leading_c must be set. Returns
// false and leaves c unchanged where float32 is faster or required.
bool gemm_bfloat16(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options, Precision precision, int64_t threads);

// Returns whether gemm_bfloat16() computes a product (m, k) · (k, n) of elements.
bool uses_bfloat16(int64_t m, int64_t n, int64_t k, Precision precision);

// Packs the right operand b (k, n) of a later product in `medium` ahead. The product has the same
// bits as one that packs b itself, unless a block of it is not finite. Each part of `rows_in_part`
// rows is an operand of its own, in packed_words() words of 4 bytes: half of the memory of b. Runs
// on all threads.
int64_t packed_words(int64_t k, int64_t n);
// Returns whether a product of k terms can read an operand packed ahead.
bool can_be_packed(int64_t k, Precision precision);
// A product of at most so many rows reads each panel packed ahead once.
inline constexpr int64_t max_streamed_rows = 128;
void pack_ahead(const TileKernels& tiles, const MatrixView& b, int64_t rows_in_part,
                uint32_t* panels);

#ifndef HEED_DOUBLE
// The same as gemm_bfloat16() on the given tile kernels, for a product of any shape.
void gemm_on_tiles(const TileKernels& tiles, const MatrixView& a, const MatrixView& b,
                   Destination c, const GemmOptions& options, Precision precision,
                   int64_t threads = thread_count());
#endif

}  // namespace heed::inline HEED_REAL::kernels
