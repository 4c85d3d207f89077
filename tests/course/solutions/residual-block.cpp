#include "core/ops.h"
#include "course/exercises/residual-block/block.h"

namespace heed::course {

// h = x + attention(norm(x, gain_1)), y = h + feed_forward(norm(h, gain_2)).   x (T, D) → (T, D)
Tensor pre_norm_block(const Tensor& x, const Tensor& gain_1, const Tensor& gain_2,
                      const Sublayer& attention, const Sublayer& feed_forward) {
  const Tensor h = x + attention(rms_norm(x, gain_1, norm_epsilon));
  return h + feed_forward(rms_norm(h, gain_2, norm_epsilon));
}

}  // namespace heed::course
