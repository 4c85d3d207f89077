#include "core/ops.h"

namespace heed::course {

// -Σₙ Σᵥ p[n, v] log softmax(logits)[n, v], over the rows whose target is not `ignored`.
// p[n, v] is 1 - ε + ε/vocab for the target of the row and ε/vocab for the other classes.
// logits (N, vocab), targets (N) → a scalar
Tensor smoothed_cross_entropy(const Tensor& logits, const Ids& targets, double epsilon) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  std::vector<double> p(static_cast<size_t>(logits.size()));  // (N, vocab), element n · vocab + v
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t v = 0; v < classes && targets[n] != ignored; ++v)
      p[static_cast<size_t>(n * classes + v)] =
          epsilon / static_cast<double>(classes) + (v == targets[n] ? 1 - epsilon : 0);
  return neg(sum(Tensor::from(logits.shape(), p) * log_softmax(logits)));
}

}  // namespace heed::course
