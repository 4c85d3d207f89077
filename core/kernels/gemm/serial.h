// The kernels of gemm() for one thread: see tiled.cpp, few_rows.cpp and blas.cpp. They compute c as
// gemm_serial() does, in float32 (in the double build, double); options.leading_c must be set.
#pragma once

#include "core/kernels/gemm/view.h"
#include "core/kernels/simd/vector.h"

namespace heed::inline HEED_REAL::kernels {

// The order of each sum depends only on k. The epilogue runs on blocks of rows as soon as they are
// complete.
void gemm_tiled(const MatrixView& a, const MatrixView& b, Destination c,
                const GemmOptions& options);

// Returns whether gemm_tiled() is faster than OpenBLAS for a · b. By measurement it is not where
// one operand is nearly a vector and the sums are long, and, without AVX-512 (Zen 3, and a Xeon
// built for x86-64-v3), where products are large or a is transposed. ARM was not measured.
inline bool tiled_is_faster(const MatrixView& a, const MatrixView& b) {
  const int64_t m = a.rows, n = b.columns, k = a.columns, work = m * n * k;
#ifndef HEED_NO_BLAS
  if (vector_bytes < 64 && (a.transposed ? k > 256 && work > 2'000'000 : work > 30'000'000))
    return false;
#endif
  return (m > 2 && n > 4) || k < 64;
}

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
