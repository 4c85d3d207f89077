// Defines shape.h: size, axes, shapes made of others, broadcasting, and how a shape prints.
#include "core/shape.h"

#include <algorithm>
#include <string>

namespace heed::inline HEED_REAL {

static std::string in_brackets(std::span<const int64_t> lengths) {
  std::string text = "[";
  for (const int64_t length : lengths) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(length);
  }
  return text + ']';
}

// The product of the lengths. Checks that its bytes, and those of any of the lengths, fit in 64
// bits.
static int64_t checked_size(std::span<const int64_t> dims) {
  int64_t size = 1, extent = 1;  // extent counts empty axes as 1
  for (const int64_t length : dims) {
    check(length >= 0, "shape: the length of an axis cannot be negative, got {}", length);
    const bool fits = length == 0 || extent <= Shape::max_size / length;
    check(fits, "shape: more than 2^60 elements in {}", fits ? "" : in_brackets(dims));
    extent *= std::max<int64_t>(length, 1);
    size *= length;
  }
  return size;
}

Shape::Shape(std::span<const int64_t> dims)
    : size_(checked_size(dims)), rank_(static_cast<int>(dims.size())) {
  check(dims.size() <= max_rank, "shape: a tensor has at most {} axes, got {}", int{max_rank},
        dims.size());
  std::copy(dims.begin(), dims.end(), dims_.begin());
}

int Shape::axis(int axis) const {
  const int wrapped = axis < 0 ? axis + rank_ : axis;
  check(wrapped >= 0 && wrapped < rank_, "axis {} does not exist in shape {}", axis, *this);
  return wrapped;
}

int64_t Shape::span_size(int first, int last) const {
  int64_t product = 1;
  for (int i = first; i < last; ++i) product *= dims_[static_cast<size_t>(i)];
  return product;
}

Shape Shape::with(int axis, int64_t length) const {
  std::array<int64_t, max_rank> dims = dims_;
  dims[static_cast<size_t>(this->axis(axis))] = length;
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank_)));
}

Shape Shape::without(int axis) const {
  const int64_t* const removed = begin() + this->axis(axis);
  std::array<int64_t, max_rank> dims{};
  std::copy(removed + 1, end(), std::copy(begin(), removed, dims.begin()));
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank_) - 1));
}

Shape Shape::inserted(int axis, int64_t length) const {
  const int at = axis < 0 ? axis + rank_ + 1 : axis;
  check(at >= 0 && at <= rank_ && rank_ < max_rank, "shape: cannot insert an axis at {} into {}",
        axis, *this);
  std::array<int64_t, max_rank> dims{};
  auto to = std::copy(begin(), begin() + at, dims.begin());
  *to++ = length;
  std::copy(begin() + at, end(), to);
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank_) + 1));
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

Shape broadcast(const char* operation, const Shape& a, const Shape& b) {
  std::array<int64_t, Shape::max_rank> dims{};
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a[-i] : 1;
    const int64_t y = i <= b.rank() ? b[-i] : 1;
    check(x == y || x == 1 || y == 1,
          "{}: shapes {} and {} do not broadcast: aligned at the last axis, two lengths must be "
          "equal or one of them 1",
          operation, a, b);
    dims[static_cast<size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::span<const int64_t>(dims.data(), static_cast<size_t>(rank)));
}

int axis_of(const char* operation, const Shape& shape, int axis) {
  check(axis >= -shape.rank() && axis < shape.rank(), "{}: axis {} does not exist in shape {}",
        operation, axis, shape);
  return shape.axis(axis);
}

}  // namespace heed::inline HEED_REAL

auto fmt::formatter<heed::HEED_REAL::Shape>::format(const heed::HEED_REAL::Shape& shape,
                                                    fmt::format_context& context) const
    -> fmt::format_context::iterator {
  const std::string text = heed::HEED_REAL::in_brackets({shape.begin(), shape.end()});
  return std::copy(text.begin(), text.end(), context.out());
}
