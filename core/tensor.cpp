#include "core/tensor.h"

#include <algorithm>
#include <array>
#include <new>

#include "core/kernels/broadcast.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {
namespace {

template <class T>
T* create_in_pool() {
  return new (pool_allocate(sizeof(T))) T;
}

template <class T>
void destroy_in_pool(T* object) {
  object->~T();
  pool_free(object);
}

}  // namespace

Handle<Storage> Storage::allocate(int64_t size) {
  Handle<Storage> storage(create_in_pool<Storage>());
  storage->data = static_cast<real*>(pool_allocate(static_cast<size_t>(size) * sizeof(real)));
  storage->size = size;
  return storage;
}

Handle<Storage> Storage::part_of(const Handle<Storage>& owner, int64_t first, int64_t size) {
  check(first >= 0 && size >= 0 && first + size <= owner->size,
        "storage: numbers {} to {} are not within the {} there are", first, first + size,
        owner->size);
  Handle<Storage> part(create_in_pool<Storage>());
  part->data = owner->data + first;
  part->size = size;
  part->owner = owner;
  return part;
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
  real* const to = tensor.storage()->data;
  parallel_for(tensor.size(), chunk_elements,
               [=](int64_t first, int64_t last) { std::fill(to + first, to + last, value); });
  return tensor;
}

Tensor Tensor::from(const Shape& shape, std::span<const real> values) {
  check(static_cast<int64_t>(values.size()) == shape.size(),
        "tensor: shape {} holds {} numbers, {} were given", shape, shape.size(), values.size());
  Tensor tensor = empty(shape);
  kernels::copy(shape.size(), values.data(), {tensor.storage()->data, false});
  return tensor;
}

TensorBody& Tensor::body() const {
  check(static_cast<bool>(body_), "tensor: an empty handle was used as a tensor");
  return *body_;
}

real* Tensor::mutable_data() {
  ++body().storage->version;
  return body().storage->data;
}

real Tensor::item() const {
  check(size() == 1, "item: needs a tensor with one number, this one has shape {}", shape());
  return scope().shapes_only ? 0 : *data();
}

Tensor& Tensor::set_requires_grad(bool wanted) {
  check(!slot() || (!slot()->producer && !slot()->released),
        "set_requires_grad: only leaves can be set, this is the result of an operation (shape {}); "
        "use detach()",
        shape());
  if (wanted != requires_grad()) body().slot = wanted ? Slot::create(size()) : Handle<Slot>();
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

Tensor Tensor::reshape(const Shape& wanted) const {
  check(wanted.size() == size(), "reshape: {} has {} elements, {} has {}", shape(), size(), wanted,
        wanted.size());
  return make(wanted, storage(), slot());
}

Tensor Tensor::clone() const { return from(shape(), values()); }

void Tensor::bind(Handle<Storage> numbers, Handle<Storage> gradient) {
  check(slot() && !slot()->producer && !slot()->released,
        "bind: only a leaf that wants a gradient");
  check(numbers->size == size() && gradient->size == size(),
        "bind: a tensor of {} numbers, places for {} and {}", size(), numbers->size,
        gradient->size);
  kernels::copy(size(), data(), {numbers->data, false});
  if (slot()->written) kernels::copy(size(), slot()->gradient->data, {gradient->data, false});
  body().storage = std::move(numbers);
  slot()->gradient = std::move(gradient);
  slot()->bound = true;
}

}  // namespace heed::inline HEED_REAL
