// The sum of gradients over ranks, begun while backward computes others:
//
//   begin_sum_in_backward(loss, arena);  // instead of backward(loss), the last of a step
//   arena.complete_gradients();
//   arena.sum_gradients();  // the rest
#pragma once

#include "core/tensor.h"
#include "optim/arena.h"

namespace heed::inline HEED_REAL {

// Calls backward(loss) and sends gradients of the arena as soon as they are final. All parameters
// of the loss that require a gradient must be in the arena, and nothing may be added to their
// gradients afterwards. Requires several ranks. Throws LostRank, and as backward.
void begin_sum_in_backward(const Tensor& loss, Arena& arena);

}  // namespace heed::inline HEED_REAL
