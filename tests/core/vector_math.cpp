// exp and its relatives in float against the library's in double, over all magnitudes.
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

constexpr float infinity = std::numeric_limits<float>::infinity();

// How far off, in units of the last place of the wanted float.
double units_off(float got, double wanted) {
  const auto nearest = static_cast<float>(wanted);
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) return nearest == got ? 0 : 1e9;
  const float magnitude = std::fabs(nearest);
  return std::fabs(got - wanted) / (double{std::nextafter(magnitude, infinity)} - magnitude);
}

// One float in a few hundred of those there are, from end to end, and the special ones.
std::vector<float> floats() {
  std::vector<float> all{0.0f,
                         -0.0f,
                         infinity,
                         -infinity,
                         std::numeric_limits<float>::quiet_NaN(),
                         -std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099)
    all.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x = -110; x < 110; x += 0.000371f) all.push_back(x);
  return all;
}

template <class Fast, class Right>
double worst(Fast fast, Right right) {
  static const std::vector<float> all = floats();
  std::vector<float> got(all.size());
  for (size_t i = 0; i < all.size(); ++i) got[i] = fast(all[i]);  // becomes vector instructions
  double most = 0;
  for (size_t i = 0; i < all.size(); ++i)
    most = std::max(most, units_off(got[i], right(double{all[i]})));
  return most;
}

TEST_CASE("vector math: within a few units of the last place everywhere") {
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

TEST_CASE("vector math: ends and middles") {
  CHECK(kernels::exp(0.0f) == 1.0f);
  CHECK(kernels::exp(-infinity) == 0.0f);
  CHECK(kernels::exp(infinity) == infinity);
  CHECK(kernels::exp(88.8f) == infinity);
  CHECK(kernels::exp(-104.5f) == 0.0f);
  CHECK(kernels::tanh(1e-30f) == 1e-30f);
  CHECK(kernels::tanh(-infinity) == -1.0f);
  CHECK(std::signbit(kernels::tanh(-0.0f)));
  CHECK(kernels::sigmoid(0.0f) == 0.5f);
  CHECK(kernels::sigmoid(-infinity) == 0.0f);
  CHECK(kernels::sigmoid(infinity) == 1.0f);
  CHECK(kernels::normal(0.0f).below == 0.5f);
  CHECK(kernels::normal(-infinity).below == 0.0f);
  CHECK(kernels::normal(infinity).below == 1.0f);
}

TEST_CASE("vector math: in double they are the library's") {
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
