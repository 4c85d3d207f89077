#include <cmath>
#include <vector>

#include "course/exercises/paired-interval/interval.h"

namespace heed::course {

// Returns the geometric mean of the ratios b[i] / a[i] and its 95 % interval, by Student's quantile
// t on their logarithms.   a, b: n ≥ 2 positive losses
RatioInterval paired_interval(const std::vector<double>& a, const std::vector<double>& b,
                              double t) {
  const auto n = static_cast<double>(a.size());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) mean += std::log(b[i] / a[i]) / n;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::log(b[i] / a[i]) - mean;
    squares += apart * apart;
  }
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace heed::course
