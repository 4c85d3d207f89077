#include "core/scope.h"

namespace heed::inline HEED_REAL {

Scope& scope() {
  static thread_local Scope current;
  return current;
}

Precision effective_precision(Precision) { return Precision::highest; }

}  // namespace heed::inline HEED_REAL
