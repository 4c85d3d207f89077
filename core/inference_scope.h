// The settings under which a trained model computes.
#pragma once

#include "core/scope.h"

namespace heed::inline HEED_REAL {

// Until the end of the block, operations record no gradients and dropout is off.
class InferenceScope : public ScopeGuard {
 public:
  InferenceScope() { scope().gradients = scope().training = false; }
};

}  // namespace heed::inline HEED_REAL
