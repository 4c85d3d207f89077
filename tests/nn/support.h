// What the tests of attention share.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

#ifdef HEED_DOUBLE
inline constexpr double rounding = 1e-10;
#else
inline constexpr double rounding = 1e-5;
#endif

// Numbers in [-1, 1) that want a gradient.
inline Tensor random_tensor(const Shape& shape, uint32_t stream) {
  Random random(3, Purpose::test, 0, 0, stream);
  Tensor x = Tensor::empty(shape);
  for (int64_t i = 0; i < x.size(); ++i)
    x.mutable_data()[i] = static_cast<real>(2 * random.uniform() - 1);
  return x.set_requires_grad();
}

// Relative to the size of `wanted`, or absolute where that is below one.
inline void check_same(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  double difference = 0, size = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    difference += std::pow(static_cast<double>(got.data()[i]) - wanted.data()[i], 2);
    size += std::pow(static_cast<double>(wanted.data()[i]), 2);
  }
  CHECK(std::sqrt(difference) <= rounding * std::max(1.0, std::sqrt(size)));
}

inline double l1(const Tensor& x) {
  double total = 0;
  for (const real v : x.values()) total += std::abs(static_cast<double>(v));
  return total;
}

// Σ cotangent · x, for a random cotangent: all of x takes part.
inline Tensor read_out(const Tensor& x) { return sum(x * random_tensor(x.shape(), 99).detach()); }

}  // namespace heed::inline HEED_REAL::testing
