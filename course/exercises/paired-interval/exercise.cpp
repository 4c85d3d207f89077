// The interval of a ratio, in pairs: write the function below. The task is in
// course/exercises/paired-interval/task.md; check it with
//
//   ./heed course check paired-interval
#include <cmath>
#include <vector>

#include "course/exercises/paired-interval/interval.h"

namespace heed::course {

// Returns the geometric mean of the ratios b[i] / a[i] and its 95 % interval, by Student's quantile
// t on their logarithms.   a, b: n ≥ 2 positive losses
RatioInterval paired_interval(const std::vector<double>& a, const std::vector<double>& b,
                              double t) {
  // Write this.
  (void)a, (void)b, (void)t;
  return {0, 0, 0};
}

}  // namespace heed::course
