#include <algorithm>
#include <span>

#include "core/ops.h"

namespace heed::course {

// The number of the line with the mistake.
int wrong_line() { return 10; }

// Returns the mean cross entropy over all targets that are not `ignored`, computed in batches of
// `batch` rows. At least one target is not ignored.   logits (N, vocab), targets (N)
double evaluated_loss(const Tensor& logits, const Ids& targets, int64_t batch) {
  double total = 0, weights = 0;                                                     // 1
  for (int64_t first = 0; first < logits.dim(0); first += batch) {                   // 2
    const int64_t end = std::min(first + batch, logits.dim(0));                      // 3
    const std::span part(targets.data() + first, static_cast<size_t>(end - first));  // 4
    const Ids own = Ids::from({end - first}, part);                                  // 5
    const Tensor rows = slice(logits, 0, first, end);                                // 6
    const double sum = cross_entropy(rows, own, Reduction::sum).item();              // 7
    const auto count = end - first - std::ranges::count(part, ignored);              // 8
    const double mean = count > 0 ? sum / static_cast<double>(count) : 0;            // 9
    const auto weight = static_cast<double>(count);                                  // 10
    total += weight * mean;                                                          // 11
    weights += weight;                                                               // 12
  }
  return total / weights;  // 13
}

}  // namespace heed::course
