// The float functions of vector_math.h against the standard library in double, over all magnitudes.
#include "core/kernels/simd/vector_math.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace heed::inline HEED_REAL {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// The error in units of the last place (ulp) of the expected float.
double ulp_error(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) return nearest == got ? 0 : 1e9;
  const float magnitude = std::fabs(nearest);
  return std::fabs(got - expected) / (double{std::nextafter(magnitude, infinite)} - magnitude);
}

// One in 4,099 of all floats, those of [-110, 110] more densely, and the special values.
std::vector<float> floats() {
  std::vector<float> all{0.0f,
                         -0.0f,
                         infinite,
                         -infinite,
                         std::numeric_limits<float>::quiet_NaN(),
                         -std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099)
    all.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x = -110; x < 110; x += 0.000371f) all.push_back(x);
  return all;
}

template <class Fast, class Exact>
double worst(Fast fast, Exact exact) {
  static const std::vector<float> all = floats();
  std::vector<float> got(all.size());
  for (size_t i = 0; i < all.size(); ++i) got[i] = fast(all[i]);  // vectorized
  double most = 0;
  for (size_t i = 0; i < all.size(); ++i)
    most = std::max(most, ulp_error(got[i], exact(double{all[i]})));
  return most;
}

TEST_CASE("vector math: errors of at most a few ulp everywhere") {
  CHECK(worst([](float x) { return kernels::exp(x); }, [](double x) { return std::exp(x); }) < 1);
  CHECK(worst([](float x) { return kernels::tanh(x); }, [](double x) { return std::tanh(x); }) < 3);
  CHECK(worst([](float x) { return kernels::sigmoid(x); },
              [](double x) { return 1 / (1 + std::exp(-x)); }) < 3);
  CHECK(worst([](float x) { return kernels::normal(x).below; },
              [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }) < 7);
  CHECK(worst([](float x) { return kernels::normal(x).density; },
              [](double x) {
                return std::numbers::inv_sqrtpi / std::numbers::sqrt2 * std::exp(-0.5 * x * x);
              }) < 6);
}

TEST_CASE("vector math: special values") {
  CHECK(kernels::exp(0.0f) == 1.0f);
  CHECK(kernels::exp(-infinite) == 0.0f);
  CHECK(kernels::exp(infinite) == infinite);
  CHECK(kernels::exp(88.8f) == infinite);
  CHECK(kernels::exp(-104.5f) == 0.0f);
  CHECK(kernels::tanh(1e-30f) == 1e-30f);
  CHECK(kernels::tanh(-infinite) == -1.0f);
  CHECK(std::signbit(kernels::tanh(-0.0f)));
  CHECK(kernels::sigmoid(0.0f) == 0.5f);
  CHECK(kernels::sigmoid(-infinite) == 0.0f);
  CHECK(kernels::sigmoid(infinite) == 1.0f);
  CHECK(kernels::normal(0.0f).below == 0.5f);
  CHECK(kernels::normal(-infinite).below == 0.0f);
  CHECK(kernels::normal(infinite).below == 1.0f);
}

TEST_CASE("vector math: the double functions are those of the standard library") {
  for (double x = -20; x < 20; x += 0.37) {
    CHECK(kernels::exp(x) == std::exp(x));
    CHECK(kernels::tanh(x) == std::tanh(x));
    CHECK(kernels::sigmoid(x) == doctest::Approx(1 / (1 + std::exp(-x))).epsilon(1e-14));
    CHECK(kernels::normal(x).below ==
          doctest::Approx(0.5 * std::erfc(-x / std::sqrt(2.0))).epsilon(1e-14));
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
