// A matrix product by hand, for one thread: what gemm (kernels/gemm/gemm.h) does with each of its
// pieces.
//
// OpenBLAS copies both operands into its own order before it multiplies: of the products of a small
// Transformer that took a fifth of the time, and where a product is cut for several threads, each
// copies again what they share. Here the left operand is read where it lies, unless it lies badly,
// and the right one is copied as panels four vectors wide, if it does not lie like that already:
//
//   for each piece of k, not too deep
//     copy the panels, turned over if need be, so that their rows lie one behind the other
//     for some rows of a, as many as stay in the second cache
//       for each panel
//         for each block of rows, six at most: a tile of c stays in registers,
//           tile[i][:] += a[i, p] · panel[p][:]        for every p of the piece
//
// so that a step of the inner loop loads four vectors, broadcasts six numbers and makes 24 fused
// multiply-adds; of 16 registers instead of 32, half of that. (After Goto & van de Geijn 2008,
// "Anatomy of high-performance matrix multiplication".)
#pragma once

#include "core/kernels/gemm/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// As gemm_serial, of whose arguments it makes no defaults; each number of c is added up in an order
// that k alone decides. Blocks of c are finished as they are made.
void gemm_tiled(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                const real* bias, const Epilogue& finish);

// Whether that is the quicker way for a product of (m, k) by (k, n): not, by measurement, where one
// operand is nearly a vector and the sums are long.
inline bool tiles_pay(int64_t m, int64_t n, int64_t k) { return (m > 2 && n > 4) || k < 64; }

}  // namespace heed::inline HEED_REAL::kernels
