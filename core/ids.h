// Arrays of int32: token ids, lengths, labels. They are not tensors: nothing differentiates them.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "core/counted.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

// A counted handle to a dense, row-major array; copying it copies no elements.
class Ids {
 public:
  Ids() = default;                       // an empty handle; shape() is [0]
  static Ids empty(const Shape& shape);  // contents undefined
  // All elements equal. Throws Error as from() does.
  template <class Number>
  static Ids full(const Shape& shape, Number value) {
    return filled(shape, exact(value));
  }
  // Copies integers of any type, in row-major order, from a list or a container. Throws Error
  // unless there are shape.size() of them, each an integer of 32 bits.
  template <class Values>
  static Ids from(const Shape& shape, const Values& values) {
    check_count(shape, static_cast<int64_t>(std::size(values)));
    Ids ids = empty(shape);
    int32_t* to = ids.mutable_data();
    for (const auto& value : values) *to++ = exact(value);
    return ids;
  }
  static Ids from(const Shape& shape, std::initializer_list<int32_t> values) {
    return from<std::initializer_list<int32_t>>(shape, values);
  }

  explicit operator bool() const { return static_cast<bool>(elements_); }
  const Shape& shape() const { return shape_; }         // of an empty handle [0]
  int64_t dim(int axis) const { return shape_[axis]; }  // negative axes count from the end
  int64_t size() const { return shape_.size(); }        // number of elements
  const int32_t* data() const { return elements_ ? elements_->data : nullptr; }  // row-major
  // Returns the elements for writing. A backward that kept them throws, since they may change.
  int32_t* mutable_data() {
    if (elements_) ++elements_->version;
    return elements_ ? elements_->data : nullptr;
  }
  uint32_t version() const { return elements_ ? elements_->version : 0; }  // counts modifications
  int32_t operator[](int64_t i) const { return data()[i]; }  // i is the row-major index
  Ids reshape(const Shape& shape) const;                     // shares the elements

 private:
  struct Elements : Counted {
    int32_t* data = nullptr;
    uint32_t version = 0;
    static void destroy(Elements* elements);
  };
  static void check_count(const Shape& shape, int64_t count);
  static Ids filled(const Shape& shape, int32_t value);
  template <class Number>
  static int32_t exact(const Number& value) {
    const auto number = static_cast<double>(value);  // of an integer beyond 32 bits still beyond
    const bool fits = number >= INT32_MIN && number <= INT32_MAX && number == std::trunc(number);
    check(fits, "ids: {} is not an integer of 32 bits", +value);  // +: a char as a number
    return static_cast<int32_t>(number);
  }
  Shape shape_{0};
  Handle<Elements> elements_;
};

}  // namespace heed::inline HEED_REAL
