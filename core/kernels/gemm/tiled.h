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
#pragma once

#include "core/kernels/gemm/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// Computes c as gemm_serial() does, in float32 (in the double build, double); options.leading_c
// must be set. The order of each sum depends only on k. The epilogue runs on blocks of rows as soon
// as they are complete.
void gemm_tiled(const Matrix& a, const Matrix& b, Destination c, const GemmOptions& options);

// Whether gemm_tiled() is faster than OpenBLAS for a product of (m, k) and (k, n). By measurement
// it is not where one operand is nearly a vector and the sums are long.
inline bool tiled_is_faster(int64_t m, int64_t n, int64_t k) { return (m > 2 && n > 4) || k < 64; }

}  // namespace heed::inline HEED_REAL::kernels
