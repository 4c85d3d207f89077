// The lengths of the axes of a tensor, and the rule by which two shapes broadcast. Row-major: the
// last axis is contiguous.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/check.h"

namespace heed::inline HEED_REAL {

class Shape {
 public:
  static constexpr int max_rank = 6;                     // axes
  static constexpr int64_t max_size = int64_t{1} << 60;  // so that the bytes fit in 64 bits

  Shape() = default;  // rank 0: a scalar, one element
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  // Throws Error for more than six axes, a negative length, or more than max_size elements.
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }  // number of axes
  // Number of elements: the product of the lengths, 1 for a scalar.
  int64_t size() const { return size_; }
  // Length of an axis; negative axes count from the end. Throws Error if there is no such axis.
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(this->axis(axis))]; }
  // Returns the axis as an index in [0, rank). Throws Error if there is no such axis.
  int axis(int axis) const;
  // Product of the lengths of axes [first, last).
  int64_t span_size(int first, int last) const;

  Shape with(int axis, int64_t length) const;  // with the length of one axis changed
  Shape with_last(int64_t length) const { return with(-1, length); }  // of the last axis
  Shape without(int axis) const;                                      // with one axis removed
  Shape inserted(int axis, int64_t length) const;  // with a new axis before `axis`

  const int64_t* begin() const { return dims_.data(); }        // the lengths of the axes, in order
  const int64_t* end() const { return dims_.data() + rank_; }  // after the last length
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, max_rank> dims_{};
  int64_t size_ = 1;
  int rank_ = 0;
};

// Broadcasts two shapes by NumPy's rule: aligned at the last axis, lengths must be equal or one of
// them 1. Otherwise throws Error with the name of the operation and both shapes.
Shape broadcast(const char* operation, const Shape& a, const Shape& b);

// Shape::axis() with the name of the operation in the error.
int axis_of(const char* operation, const Shape& shape, int axis);

}  // namespace heed::inline HEED_REAL

// Shapes print as [2, 3, 4], scalars as [].
template <>
struct fmt::formatter<heed::HEED_REAL::Shape> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const heed::HEED_REAL::Shape& shape, fmt::format_context& context) const
      -> fmt::format_context::iterator;
};
