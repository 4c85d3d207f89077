// Arrays of int32: token ids, lengths, labels. Not tensors: nothing differentiates them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/counted.h"
#include "core/shape.h"

namespace heed::inline HEED_REAL {

// A counted handle to a dense, row-major array; copying it copies no numbers.
class Ids {
 public:
  Ids() = default;                       // no array at all; shape() is [0]
  static Ids empty(const Shape& shape);  // contents undefined
  static Ids full(const Shape& shape, int32_t value);
  // Throws Error unless shape.size() values are given.
  static Ids from(const Shape& shape, std::initializer_list<int32_t> values);

  explicit operator bool() const { return static_cast<bool>(array_); }
  const Shape& shape() const;
  int64_t dim(int axis) const { return shape()[axis]; }
  int64_t size() const { return shape().size(); }
  const int32_t* data() const;
  int32_t* mutable_data();
  int32_t* data() { return mutable_data(); }
  int32_t operator[](int64_t i) const { return data()[i]; }  // row-major position
  Ids reshape(const Shape& shape) const;                     // shares the numbers

 private:
  // A shape over numbers; the numbers are the owner's when this view came from reshape().
  struct View : Counted {
    Shape shape;
    int32_t* data = nullptr;
    Handle<View> owner;
    static void destroy(View* view);
  };
  explicit Ids(View* view) : array_(view) {}
  Handle<View> array_;
};

}  // namespace heed::inline HEED_REAL
