// Label smoothing: write the function below. The task is in
// course/exercises/label-smoothing/task.md; check it with
//
//   ./heed course check label-smoothing
#include "core/ops.h"

namespace heed::course {

// -Σₙ Σᵥ p[n, v] log softmax(logits)[n, v], over the rows whose target is not `ignored`.
// p[n, v] is 1 - ε + ε/vocab for the target of the row and ε/vocab for the other classes.
// logits (N, vocab), targets (N) → a scalar
Tensor smoothed_cross_entropy(const Tensor& logits, const Ids& targets, double epsilon) {
  std::vector<double> p(static_cast<size_t>(logits.size()));  // (N, vocab), element n · vocab + v
  // Write this. Tensor::from(logits.shape(), p) makes a tensor of p.
  (void)targets, (void)epsilon;
  return Tensor::scalar(0);
}

}  // namespace heed::course
