// Every fast kernel against its definition in core/reference, for the same random arguments.
#include <doctest/doctest.h>

#include <cmath>

#include "kernel_outputs.h"

namespace heed::inline HEED_REAL::testing {

std::vector<Output> reference_outputs(size_t family);

namespace {

// The largest difference, relative to the largest value or to 1 if that is larger; infinite where
// one is NaN or infinite and the other is not the same.
double largest_error(const std::vector<double>& fast, const std::vector<double>& reference) {
  double largest = 0, scale = 1;
  for (size_t i = 0; i < fast.size(); ++i) {
    const double x = fast[i], y = reference[i];
    if (std::isfinite(x) && std::isfinite(y)) {
      scale = std::max(scale, std::abs(y));
      largest = std::max(largest, std::abs(x - y));
    } else if (x != y && !(std::isnan(x) && std::isnan(y))) {
      return INFINITY;
    }
  }
  return largest / scale;
}

TEST_CASE("every fast kernel computes what its reference computes") {
  constexpr double unit = std::numeric_limits<real>::epsilon();
  for (size_t family = 0; family < std::size(kernels::families); ++family) {
    const kernels::Family& f = kernels::families[family];
    const std::vector<Output> fast = f.outputs(), reference = reference_outputs(family);
    REQUIRE(fast.size() == reference.size());
    double largest = 0;
    for (size_t i = 0; i < fast.size(); ++i) {
      CAPTURE(fast[i].name);
      REQUIRE(fast[i].name == reference[i].name);
      REQUIRE(fast[i].values.size() == reference[i].values.size());
      const double error = largest_error(fast[i].values, reference[i].values) / unit;
      CHECK(error <= f.tolerance);
      largest = std::max(largest, error);
    }
    MESSAGE(std::string(f.name), ": ", fast.size(), " outputs, largest error ", largest,
            " units of rounding");
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL::testing
