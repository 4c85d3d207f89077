// Defines functions that only the fast kernels call, for a build that links both.
#include "core/kernels/gemm/gemm.h"

namespace heed::inline HEED_REAL::kernels {

// There are no threads here, and every precision is `highest`.
void gemm_serial(const Matrix& a, const Matrix& b, Destination c, Precision,
                 const GemmOptions& options) {
  gemm(a, b, c, options);
}

const char* blas_backend() { return "none: the reference loops, slow"; }

}  // namespace heed::inline HEED_REAL::kernels
