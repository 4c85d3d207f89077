// What tests of tensors draw and compare.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

inline constexpr real infinity = std::numeric_limits<real>::infinity();
inline constexpr real nan = std::numeric_limits<real>::quiet_NaN();

// The elements of a tensor, in row-major order.
inline std::vector<real> elements(const Tensor& x) {
  return {x.values().begin(), x.values().end()};
}

// N(0, 1), different for every `call`.
inline Tensor drawn(const Shape& shape, uint32_t call) {
  std::vector<real> values(static_cast<size_t>(shape.size()));
  Random random(3, Purpose::test, 0, 0, call);
  for (real& v : values) v = static_cast<real>(random.normal());
  return Tensor::from(shape, values);
}

// The larger of two errors, or the one that is a NaN.
inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

// The largest difference, relative for values above 1.
inline double difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  double worst = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = double{a.data()[i]}, y = double{b.data()[i]};
    worst = worse(worst, std::fabs(x - y) / std::max(1.0, std::fabs(y)));
  }
  return worst;
}

}  // namespace heed::inline HEED_REAL
