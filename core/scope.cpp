#include "core/scope.h"

#include "core/kernels/bfloat16/bfloat16.h"

namespace heed::inline HEED_REAL {

Scope& scope() {
  static thread_local Scope current;
  return current;
}

Precision effective_precision(Precision wanted) {
  return kernels::tile_kernels() ? wanted : Precision::highest;
}

}  // namespace heed::inline HEED_REAL
