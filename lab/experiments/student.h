// Student's t distribution, by Boost.Math, which a build of heed can do without.
#pragma once

#include <cmath>
#include <cstdint>

namespace heed {

// Returns t(0.975, n - 1), n ≥ 2. Half of a 95 % interval of a mean is this times s / √n. Infinity
// in a build without Boost.Math, so that every interval is unbounded.
double student_quantile(int64_t n);
// Returns whether this build has Boost.Math, and so intervals over seeds.
inline bool has_intervals() { return std::isfinite(student_quantile(2)); }
// Returns the two-sided p of the hypothesis that the mean of n ≥ 2 normal values is 0, for t = mean
// / (s / √n) (Student 1908). 1 in a build without Boost.Math.
double student_p(int64_t n, double t);

}  // namespace heed
