// Replaces the scores that a mask hides, by -∞ for a softmax, which gives them weight 0.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

// y = value where the mask hides a key, else x
Tensor masked_fill(const Tensor& scores, const KeepMask& mask, real value) {
  const Shape& shape = scores.shape();
  check(shape.rank() == 4, "masked_fill: scores must be (batch, heads, queries, keys), got {}",
        shape);
  mask.check_fits("masked_fill", shape[0], shape[1], shape[2], shape[3]);
  if (mask.hides_nothing()) return scores;
  Tensor y = Tensor::empty(shape);
  kernels::fill_hidden(shape, mask, scores.data(), value, {y.mutable_data(), false});
  // The value is an input too, only for an observer that searches for the origin of infinities.
  return record(
      "masked_fill", y, {scores, Tensor::scalar(value)}, [mask = Unchanged(mask)](Backward& g) {
        kernels::fill_hidden(g.shape(), *mask, g.dy(), 0, g.into(0));  // dx += dy where it is kept
      });
}

}  // namespace heed::inline HEED_REAL
