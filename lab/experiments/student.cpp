// Boost.Math takes seconds to compile. Only this file includes it.
#include "lab/experiments/student.h"

#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace heed {

// Those of small n are computed once: a quantile takes as long as a hundred means.
double student_quantile(int64_t n) {
  const auto of = [](int64_t count) {
    return boost::math::quantile(boost::math::students_t(static_cast<double>(count - 1)), 0.975);
  };
  constexpr int64_t most = 64;
  static const std::array<double, most + 1> known = [&] {
    std::array<double, most + 1> all{};
    for (int64_t count = 2; count <= most; ++count) all[static_cast<size_t>(count)] = of(count);
    return all;
  }();
  return n <= most ? known[static_cast<size_t>(n)] : of(n);
}

double student_p(int64_t n, double t) {
  const boost::math::students_t distribution(static_cast<double>(n - 1));
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

}  // namespace heed
