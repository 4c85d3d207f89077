// How matrix products of float32 are computed: Scope::precision.
#pragma once

#include "core/named.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {

// In PyTorch's words ("float32 matmul precision"). Everything else (activations, gradients,
// softmax, norms, the optimizer) stays in float32.
enum class Precision : int {
  highest,  // float32 products
  high,     // each float32 split into two bfloat16, three products
  medium,   // one product of bfloat16
};
// Each word of a config with its precision.
inline constexpr Named<Precision> precision_names[] = {
    {"highest", Precision::highest}, {"high", Precision::high}, {"medium", Precision::medium}};

// Returns the precision that matrix products actually run in: `high` and `medium` become `highest`
// on a processor for which there is no bfloat16 kernel.
Precision effective_precision(Precision requested);

}  // namespace heed::inline HEED_REAL
