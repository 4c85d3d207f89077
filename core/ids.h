// Arrays of int32: token ids, lengths, labels. They are not tensors, because nothing differentiates
// them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "core/counted.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

// A counted handle to a dense, row-major array; copying it copies no elements.
class Ids {
 public:
  Ids() = default;                                     // an empty handle; shape() is [0]
  static Ids empty(const Shape& shape);                // contents undefined
  static Ids full(const Shape& shape, int32_t value);  // all elements equal
  // Copies integers of any type, in row-major order, from a list or a container. Throws Error
  // unless there are shape.size() of them.
  template <class Values>
  static Ids from(const Shape& shape, const Values& values) {
    check_count(shape, static_cast<int64_t>(std::size(values)));
    Ids ids = empty(shape);
    int32_t* to = ids.mutable_data();
    for (const auto& value : values) *to++ = static_cast<int32_t>(value);
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
  int32_t* mutable_data() { return elements_ ? elements_->data : nullptr; }  // copies share them
  int32_t operator[](int64_t i) const { return data()[i]; }  // i is the row-major index
  Ids reshape(const Shape& shape) const;                     // shares the elements

 private:
  struct Elements : Counted {
    int32_t* data = nullptr;
    static void destroy(Elements* elements);
  };
  static void check_count(const Shape& shape, int64_t count);
  Shape shape_{0};
  Handle<Elements> elements_;
};

}  // namespace heed::inline HEED_REAL
