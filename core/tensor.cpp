// Defines tensor.h: creation, elements, gradients, then what a tensor refers to.
#include "core/tensor.h"

#include <new>

#include "core/kernels/kernels.h"
#include "core/memory.h"

namespace heed::inline HEED_REAL {

template <class T>
static T* create_in_pool() {
  return new (pool_allocate(sizeof(T))) T;
}

template <class T>
static void destroy_in_pool(T* object) {
  object->~T();
  pool_free(object);
}

Tensor Tensor::make(const Shape& shape, Handle<Storage> storage, Handle<Slot> slot) {
  Tensor tensor(create_in_pool<TensorBody>());
  tensor.body_->shape = shape;
  tensor.body_->storage = std::move(storage);
  tensor.body_->slot = std::move(slot);
  return tensor;
}

Tensor Tensor::empty(const Shape& shape) { return make(shape, Storage::allocate(shape.size())); }

Tensor Tensor::full(const Shape& shape, real value) {
  Tensor tensor = empty(shape);
  kernels::fill(tensor.size(), value, tensor.storage()->data);
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape) { return full(shape, 0); }

Tensor Tensor::scalar(real value) { return full(Shape{}, value); }

Tensor Tensor::from(const Shape& shape, std::initializer_list<real> values) {
  return from<std::initializer_list<real>>(shape, values);
}

void Tensor::check_count(const Shape& shape, int64_t count) {
  check(count == shape.size(), "tensor: shape {} has {} elements, got {} values", shape,
        shape.size(), count);
}

TensorBody& Tensor::body() const {
  check(static_cast<bool>(body_), "tensor: the handle is empty");
  return *body_;
}

real* Tensor::mutable_data() {
  ++body().storage->version;
  return body().storage->data;
}

real Tensor::item() const {
  check(size() == 1, "item: expected a tensor with one element, got shape {}", shape());
  return scope().shapes_only ? 0 : *data();
}

Tensor& Tensor::set_requires_grad(bool required) {
  check(!slot() || (!slot()->producer && !slot()->released),
        "set_requires_grad: expected a leaf, got the result of an operation, of shape {}; use "
        "detach()",
        shape());
  if (required != requires_grad()) body().slot = required ? Slot::create(size()) : Handle<Slot>();
  return *this;
}

Tensor Tensor::grad() const {
  if (!slot() || !slot()->written) return {};
  return make(shape(), slot()->gradient);
}

void Tensor::clear_grad() {
  if (!slot()) return;
  slot()->written = false;
  if (!slot()->bound) slot()->gradient = {};
}

Tensor Tensor::detach() const { return make(shape(), storage()); }

Tensor Tensor::reshape(const Shape& other) const {
  check(other.size() == size(), "reshape: {} has {} elements, {} has {}", shape(), size(), other,
        other.size());
  return make(other, storage(), slot());
}

Tensor Tensor::clone() const { return from(shape(), values()); }

// ---- what a tensor refers to (Slot::destroy() is in autograd.cpp)

Handle<Storage> Storage::allocate(int64_t size) {
  Handle<Storage> storage(create_in_pool<Storage>());
  storage->data = static_cast<real*>(pool_allocate(static_cast<size_t>(size) * sizeof(real)));
  storage->size = size;
  return storage;
}

void Storage::destroy(Storage* storage) {
  if (!storage->owner) pool_free(storage->data);
  destroy_in_pool(storage);
}

Handle<Slot> Slot::create(int64_t size) {
  Handle<Slot> slot(create_in_pool<Slot>());
  slot->size = size;
  return slot;
}

void TensorBody::destroy(TensorBody* body) { destroy_in_pool(body); }

}  // namespace heed::inline HEED_REAL
