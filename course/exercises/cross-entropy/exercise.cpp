// Cross entropy from logits: write the function below. It replaces the library's. The task is in
// course/exercises/cross-entropy/task.md; check it with
//
//   ./heed course check cross-entropy
#include <algorithm>
#include <cmath>

#include "core/autograd.h"
#include "core/ops.h"

namespace heed::inline HEED_REAL {

// L = -Σₙ log softmax(logits[n])[targets[n]], over the targets that are not `ignored`: the sum,
// Reduction::sum
Tensor cross_entropy(const Tensor& logits, const Ids& targets, Reduction, const LabelSmoothing&) {
  const int64_t classes = logits.dim(-1), rows = targets.size();
  Tensor gradient = Tensor::zeros(logits.shape());  // ∂L/∂logits
  real loss = 0;
  for (int64_t n = 0; n < rows; ++n) {
    if (targets[n] == ignored) continue;
    const real* const x = logits.data() + n * classes;  // x[targets[n]] is the target's logit
    real* const dx = gradient.mutable_data() + n * classes;
    // Add to the loss, and write dx[v] for each class v here.
    (void)x, (void)dx;
  }

  return record("cross_entropy", Tensor::scalar(loss), {logits}, [=](Backward& g) {
    const Destination to = g.into(0);
    for (int64_t i = 0; i < gradient.size(); ++i) {
      const real value = 0;  // Write this: of gradient.data()[i] and *g.dy().
      to.data[i] = to.accumulate ? to.data[i] + value : value;
    }
  });
}

}  // namespace heed::inline HEED_REAL
