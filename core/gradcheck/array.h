// Arrays of double for definitions written naively: one element at a time, by its index.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL::testing {

// The index of an element of an array.
struct Index {
  std::array<int64_t, Shape::max_rank> at{};
  int rank = 0;

  int64_t operator[](int axis) const {
    return at[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  }
  Index with(int axis, int64_t value) const;      // the same but for one axis
  Index inserted(int axis, int64_t value) const;  // with an axis put before `axis`
  Index without(int axis) const;
};

// The index of element i, in row-major order, and all of them.
Index index_of(const Shape& shape, int64_t i);
std::vector<Index> indices(const Shape& shape);

// The values of a definition.
struct Array {
  Shape shape;
  std::vector<double> values;

  // Broadcasts: leading axes that this array does not have are skipped, axes of length 1 repeated.
  double operator()(const Index& index) const;
};

// Σ f(k), k < n
template <class F>
double sum_over(int64_t n, F f) {
  double total = 0;
  for (int64_t k = 0; k < n; ++k) total += f(k);
  return total;
}

// A random number in [0, n) for each element.
Ids random_ids(const Shape& shape, int64_t n);

}  // namespace heed::inline HEED_REAL::testing
