// The kernels of gemm() for one thread: see tiled.cpp, few_rows.cpp and blas.cpp. They compute c as
// gemm_serial() does, in float32 (in the double build, double); options.leading_c must be set.
#pragma once

#include "core/kernels/gemm/view.h"

namespace heed::inline HEED_REAL::kernels {

// The order of each sum depends only on k. The epilogue runs on blocks of rows as soon as they are
// complete.
void gemm_tiled(const MatrixView& a, const MatrixView& b, Destination c,
                const GemmOptions& options);

// Returns whether gemm_tiled() is faster than OpenBLAS for a product of (m, k) and (k, n). By
// measurement it is not where one operand is nearly a vector and the sums are long.
inline bool tiled_is_faster(int64_t m, int64_t n, int64_t k) { return (m > 2 && n > 4) || k < 64; }

void gemm_blas(const MatrixView& a, const MatrixView& b, Destination c, const GemmOptions& options);

void gemm_few_rows(const MatrixView& a, const MatrixView& b, Destination c,
                   const GemmOptions& options);

// Returns whether gemm_few_rows() can compute a · b and is the fastest kernel for it: by
// measurement up to three times as fast for one row, and no faster from five rows on. Sums shorter
// than a vector are excluded.
inline bool has_few_rows(const MatrixView& a, const MatrixView& b) {
  return a.rows <= 4 && a.columns >= 16 && !a.transposed && b.transposed;
}

}  // namespace heed::inline HEED_REAL::kernels
