// Describes the matrix products of a build that links the reference.
#include "core/kernels/gemm/view.h"

namespace heed::inline HEED_REAL::kernels {

const char* blas_backend() { return "none: the reference loops, slow"; }

}  // namespace heed::inline HEED_REAL::kernels
