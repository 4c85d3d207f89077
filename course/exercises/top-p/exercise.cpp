// The nucleus: write the function below. The task is in course/exercises/top-p/task.md; check
// it with
//
//   ./heed course check top-p
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/ops.h"

namespace heed::course {

// softmax(logits) of each row, restricted to the smallest set of most probable tokens whose total
// probability is at least p, and divided by that total.   logits (N, vocab), p in (0, 1] → (N,
// vocab)
Tensor nucleus(const Tensor& logits, double p) {
  check(p > 0 && p <= 1, "nucleus: expected p in (0, 1], got {}", p);
  // Write this.
  return Tensor::zeros(logits.shape());
}

}  // namespace heed::course
