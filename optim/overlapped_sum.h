// The sum of gradients over ranks, begun while backward computes others:
//
//   begin_sum_in_backward(loss, arena);  // instead of backward(loss), the last of a step
//   arena.complete_gradients();
//   arena.sum_gradients();  // the rest
#pragma once

#include "core/tensor.h"
#include "optim/arena.h"

namespace heed::inline HEED_REAL {

// Calls backward(loss), after which nothing is added to the gradients of the arena. Sends those
// that are final while it runs. Needs other ranks, and the place of the observer. Throws LostRank,
// and what backward throws.
void begin_sum_in_backward(const Tensor& loss, Arena& arena);

}  // namespace heed::inline HEED_REAL
