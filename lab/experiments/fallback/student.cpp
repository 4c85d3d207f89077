// Defines student.h for a build without Boost.Math.
#include "lab/experiments/student.h"

#include <limits>

namespace heed {

double student_quantile(int64_t) { return std::numeric_limits<double>::infinity(); }
double student_p(int64_t, double) { return 1; }

}  // namespace heed
