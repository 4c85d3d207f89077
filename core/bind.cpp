#include "core/bind.h"

#include <new>

#include "core/kernels/kept/forms.h"
#include "core/kernels/kernels.h"
#include "core/memory.h"

namespace heed::inline HEED_REAL {

Handle<Storage> part_of(const Handle<Storage>& owner, int64_t first, int64_t size) {
  check(first >= 0 && size >= 0 && first + size <= owner->size,
        "storage: elements {} to {} are outside a storage of {}", first, first + size, owner->size);
  Handle<Storage> part(new (pool_allocate(sizeof(Storage))) Storage);
  part->data = owner->data + first;
  part->size = size;
  part->owner = owner;
  return part;
}

Handle<Storage> borrow(real* data, int64_t size) {
  Handle<Storage> borrowed = part_of(Storage::allocate(0), 0, 0);  // its owner owns nothing
  borrowed->data = data;
  borrowed->size = size;
  return borrowed;
}

void bind_leaf(const Tensor& leaf, Handle<Storage> elements, Handle<Storage> gradient) {
  const int64_t size = leaf.size();
  Slot* const slot = leaf.slot().get();
  check(slot && !slot->producer && !slot->released,
        "bind: expected a leaf that requires a gradient");
  check(elements->size == size && gradient->size == size,
        "bind: a tensor of {} elements needs storage of that size, got {} and {}", size,
        elements->size, gradient->size);
  if (elements->data != leaf.data()) kernels::copy(size, leaf.data(), {elements->data, false});
  if (slot->written) kernels::copy(size, slot->gradient->data, {gradient->data, false});
  leaf.body().storage = std::move(elements);
  slot->gradient = std::move(gradient);
  slot->bound = true;
}

void count_modification(const Tensor& leaf) {
  ++leaf.storage()->version;
  if (!pool_attachment(leaf.storage().get()).object) return;  // as of most, in training
  Handle<kernels::Form> of_values_before;
  kernels::LastForm(leaf).swap(of_values_before);
}

}  // namespace heed::inline HEED_REAL
