// A matrix product by hand, for one thread: what gemm (kernels/gemm.h) does with each of its
// blocks.
//
// OpenBLAS copies both operands into its own order before it multiplies, which pays for large
// products; of the products of a small Transformer it takes a fifth of the time. Here the left
// operand is read where it lies, and of the right one a panel at a time is copied:
//
//   for each piece of k (`depth` at most) and each panel of columns (two vectors wide)
//     copy the panel, turned over if need be, so that its rows lie one behind the other
//     for each block of rows (twelve at most): a tile of c stays in registers,
//       tile[i][:] += a[i, p] · panel[p][:]        for every p of the piece
//
// so that a step of the inner loop loads two vectors, broadcasts twelve numbers and makes 24 fused
// multiply-adds. (After Goto & van de Geijn 2008, "Anatomy of high-performance matrix
// multiplication", without the packed left operand.)
#pragma once

#include "core/kernels/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// As gemm_serial, of whose arguments it makes no defaults.
void gemm_tiled(const Matrix& a, const Matrix& b, Destination c, int64_t leading_c, real scale,
                const real* bias);

// Whether that is the quicker way for a product of (m, k) by (k, n), by measurement: OpenBLAS is
// ahead where its copies pay (from about 16 million multiplications on), and where one operand is
// nearly a vector and long.
inline bool tiles_pay(int64_t m, int64_t n, int64_t k) {
  return m * n * k < int64_t{1} << 24 && ((m > 2 && n > 4) || k < 64);
}

}  // namespace heed::inline HEED_REAL::kernels
