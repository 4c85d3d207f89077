// Defines ids.h: creation, reshape.
#include "core/ids.h"

#include <algorithm>
#include <new>

#include "core/memory.h"

namespace heed::inline HEED_REAL {

void Ids::Elements::destroy(Elements* elements) {
  pool_free(elements->data);
  elements->~Elements();
  pool_free(elements);
}

Ids Ids::empty(const Shape& shape) {
  Ids ids;
  ids.shape_ = shape;
  ids.elements_ = Handle(new (pool_allocate(sizeof(Elements))) Elements);
  ids.elements_->data =
      static_cast<int32_t*>(pool_allocate(static_cast<size_t>(shape.size()) * sizeof(int32_t)));
  return ids;
}

Ids Ids::filled(const Shape& shape, int32_t value) {
  Ids ids = empty(shape);
  std::fill_n(ids.mutable_data(), shape.size(), value);
  return ids;
}

void Ids::check_count(const Shape& shape, int64_t count) {
  check(count == shape.size(), "ids: shape {} has {} elements, got {} values", shape, shape.size(),
        count);
}

Ids Ids::reshape(const Shape& shape) const {
  check(shape.size() == size(), "ids: cannot reshape {} to {}: {} elements against {}",
        this->shape(), shape, size(), shape.size());
  check(static_cast<bool>(elements_), "ids: cannot reshape an empty handle");
  Ids same = *this;
  same.shape_ = shape;
  return same;
}

}  // namespace heed::inline HEED_REAL
