// Defines ids.h: creation, elements, views.
#include "core/ids.h"

#include <algorithm>
#include <new>

#include "core/memory.h"

namespace heed::inline HEED_REAL {

void Ids::View::destroy(View* view) {
  if (!view->owner) pool_free(view->data);
  view->~View();
  pool_free(view);
}

Ids Ids::empty(const Shape& shape) {
  View* view = new (pool_allocate(sizeof(View))) View;
  Ids ids(view);
  view->shape = shape;
  view->data =
      static_cast<int32_t*>(pool_allocate(static_cast<size_t>(shape.size()) * sizeof(int32_t)));
  return ids;
}

Ids Ids::full(const Shape& shape, int32_t value) {
  Ids ids = empty(shape);
  std::fill_n(ids.mutable_data(), shape.size(), value);
  return ids;
}

void Ids::check_count(const Shape& shape, int64_t count) {
  check(count == shape.size(), "ids: shape {} has {} elements, got {} values", shape, shape.size(),
        count);
}

const Shape& Ids::shape() const {
  static const Shape none{0};
  return array_ ? array_->shape : none;
}

const int32_t* Ids::data() const { return array_ ? array_->data : nullptr; }
int32_t* Ids::mutable_data() { return array_ ? array_->data : nullptr; }

Ids Ids::reshape(const Shape& shape) const {
  check(shape.size() == size(), "ids: cannot reshape {} to {}: {} elements against {}",
        this->shape(), shape, size(), shape.size());
  check(static_cast<bool>(array_), "ids: cannot reshape an empty handle");
  View* view = new (pool_allocate(sizeof(View))) View;
  view->shape = shape;
  view->data = array_->data;
  view->owner = array_->owner ? array_->owner : array_;
  return Ids(view);
}

}  // namespace heed::inline HEED_REAL
