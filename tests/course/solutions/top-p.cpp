#include <algorithm>
#include <numeric>
#include <vector>

#include "core/ops.h"

namespace heed::course {

// softmax(logits) of each row, restricted to the smallest set of most probable tokens whose total
// probability is at least p, and divided by that total.   logits (N, vocab), p in (0, 1] → (N,
// vocab)
Tensor nucleus(const Tensor& logits, double p) {
  const Tensor probabilities = softmax(logits);
  Tensor result = Tensor::zeros(logits.shape());
  const int64_t width = logits.dim(1);
  std::vector<int64_t> order(static_cast<size_t>(width));
  for (int64_t n = 0; n < logits.dim(0); ++n) {
    const real* const row = probabilities.data() + n * width;
    real* const to = result.mutable_data() + n * width;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return row[a] > row[b]; });
    double sum = 0;
    for (const int64_t v : order) {
      if (sum >= p) break;
      to[v] = row[v];
      sum += static_cast<double>(row[v]);
    }
    for (int64_t v = 0; v < width; ++v) to[v] /= static_cast<real>(sum);
  }
  return result;
}

}  // namespace heed::course
