// Matrix products in the precisions `high` and `medium`: on bfloat16 tiles (tile_product.h), where
// the processor has the instructions for them (AMX).
//
// Operands are rounded and packed once, in slices of 512 terms, then each block of 32 × 32 of the
// result is a sum over two packed panels that the caches hold: 32 KiB of a in L1, of b what fits
// half of L2. A result does not depend on the number of threads. Two things to know:
// - Where a block comes out not finite it is computed once more in float32, so that infinities, NaN
//   and overflow are those of `highest`; numbers that round to an infinite bfloat16 end there too.
// - The instruction takes what is smaller than 2^-126 for zero. So `high` has the precision of
//   `medium` below 2^-118, where what is left over is smaller than that.
// AVX-512 has bfloat16 products as well, at half the rate of its float32 ones (measured: 88 against
// 178 GFLOP/s a core): no kernel is written for those.
#pragma once

#include <cstdint>

#include "core/kernels/gemm/gemm.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL::kernels {

struct TileKernels;

// The instructions of this processor: null where it has none or the system does not lend them, and
// in the build with real = double.
const TileKernels* tile_kernels();

// c = scale · a b + bias (+ c where it accumulates), as gemm, on all threads, or, inside a parallel
// region, on the calling thread alone. Returns false, c untouched, where a product of this shape
// and precision is better made in float32.
bool gemm_bfloat16(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                   const real* bias, Precision precision);

#ifndef HEED_DOUBLE
// The same on given tiles, whatever the shape.
void gemm_on_tiles(const TileKernels& tiles, const Matrix& a, const Matrix& b, Destination c,
                   int64_t leading_c, real scale, const real* bias, Precision precision);
#endif

}  // namespace heed::inline HEED_REAL::kernels
