#include "core/scope.h"

#include "core/kernels/bfloat16/bfloat16.h"

namespace heed::inline HEED_REAL {

Precision effective_precision(Precision requested) {
  return kernels::tile_kernels() ? requested : Precision::highest;
}

}  // namespace heed::inline HEED_REAL
