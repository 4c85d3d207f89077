// One loop over several strided arrays, such as arrays that broadcast. The axes of (2, 3) + (3)
// have the lengths 2 and 3. A step along an axis advances the first array by 3 or 1 elements, and
// the second, which the first axis repeats, by 0 or 1.
#pragma once

#include <array>
#include <cstddef>

#include "core/shape.h"

namespace heed::inline HEED_REAL::kernels {

// The axes of such a loop, outermost first. Adjacent axes that every array traverses with one
// stride are one axis; those of length 1 are left out.
template <size_t arrays>
struct Axes {
  using Strides = std::array<int64_t, arrays>;
  struct Axis {
    int64_t length;
    Strides stride;  // 0 where the array is repeated
  };
  std::array<Axis, Shape::max_rank> axis{};
  size_t count = 0;

  // Adds an axis inside of the others.
  void add(int64_t length, const Strides& stride) {
    if (length == 1) return;
    bool merges = count > 0;
    for (size_t k = 0; k < arrays; ++k)
      merges = merges && axis[count - 1].stride[k] == length * stride[k];
    if (merges)
      axis[count - 1] = {axis[count - 1].length * length, stride};
    else
      axis[count++] = {length, stride};
  }
  int64_t size() const {
    int64_t product = 1;
    for (size_t a = 0; a < count; ++a) product *= axis[a].length;
    return product;
  }
  // The offsets of element i of the loop in the arrays.
  Strides offsets(int64_t i) const {
    Strides at{};
    for (size_t a = count; a-- > 0;) {
      const int64_t index = a > 0 ? i % axis[a].length : i;
      for (size_t k = 0; k < arrays; ++k) at[k] += index * axis[a].stride[k];
      if (a > 0) i /= axis[a].length;
    }
    return at;
  }
};

// The axes of a loop over `whole` and contiguous arrays whose shapes broadcast to it.
template <class... Shapes>
Axes<sizeof...(Shapes)> broadcast_axes(const Shape& whole, const Shapes&... own) {
  std::array<std::array<int64_t, sizeof...(Shapes)>, Shape::max_rank>
      strides{};  // by axis of whole
  size_t array = 0;
  const auto add = [&](const Shape& shape) {
    int64_t stride = 1;
    for (int a = 1; a <= shape.rank(); ++a) {  // shapes are aligned at the last axis
      if (shape[-a] != 1) strides[static_cast<size_t>(whole.rank() - a)][array] = stride;
      stride *= shape[-a];
    }
    ++array;
  };
  (add(own), ...);
  Axes<sizeof...(Shapes)> axes;
  for (size_t a = 0; a < static_cast<size_t>(whole.rank()); ++a)
    axes.add(whole.begin()[a], strides[a]);
  return axes;
}

}  // namespace heed::inline HEED_REAL::kernels
